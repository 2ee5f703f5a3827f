typedef unsigned long long word;

// Places are addresses of doubles, or of floats with the last bit set. Entry k of thread t: its place at 2 k threads + t, its number at (2 k + 1) threads + t.
__device__ inline void put(word place, double sum) {
  if (place & 1u) *(float*)(place & ~(word)1) = (float)sum;
  else if (place) *(double*)place = sum;
}

extern "C" __global__ void stratape_carry_out_kernel(const word* entries, word threads, word room) {
  __shared__ word places[256], numbers[256];
  const word worker = threadIdx.x + (word)blockIdx.x * 256u, workers = (word)gridDim.x * 256u;
  // The sum of a place is held until another place comes.
  word open = 0; double sum = 0;
  for (word k = 0; k < room; ++k) {
    int any = 0;
    for (word first = 0; first < threads; first += 256u) {
      const word thread = first + threadIdx.x;
      const word place = thread < threads ? entries[2u * k * threads + thread] : 0;
      // Those before are done with the last ones, too.
      if (!__syncthreads_or(place != 0)) continue;
      any = 1;
      places[threadIdx.x] = place;
      numbers[threadIdx.x] = place ? entries[(2u * k + 1u) * threads + thread] : 0;
      __syncthreads();
      for (unsigned at = 0; at < 256u; ++at) {
        const word place = places[at];
        if (!place || ((place >> 2) * 0x9e3779b97f4a7c15ull >> 32) % workers != worker) continue;
        if (place != open) {
          put(open, sum);
          open = place;
          sum = place & 1u ? (double)*(const float*)(place & ~(word)1) : *(const double*)place;
        }
        if (place & 1u) sum = (double)((float)sum + __uint_as_float((unsigned)numbers[at]));
        else sum += __longlong_as_double((long long)numbers[at]);
      }
    }
    // A thread that has no addition of this number has none after it.
    if (!any) break;
  }
  put(open, sum);
}
