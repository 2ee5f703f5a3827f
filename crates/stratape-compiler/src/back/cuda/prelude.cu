typedef unsigned long long stratape_usize;

// Arrays of 8 and 16 bytes are read and written whole.
template <class T, stratape_usize N> struct alignas(N * sizeof(T) == 16 ? 16 : N * sizeof(T) == 8 ? 8 : alignof(T)) stratape_array {
  T at[N];
  __device__ T& operator[](stratape_usize i) { return at[i]; }
  __device__ const T& operator[](stratape_usize i) const { return at[i]; }
};

__device__ inline stratape_usize stratape_thread() {
  return threadIdx.x + (stratape_usize)blockDim.x * (threadIdx.y + (stratape_usize)blockDim.y * threadIdx.z);
}
__device__ inline stratape_usize stratape_threads() {
  return (stratape_usize)blockDim.x * blockDim.y * blockDim.z;
}
__device__ inline stratape_usize stratape_block() {
  return blockIdx.x + (stratape_usize)gridDim.x * (blockIdx.y + (stratape_usize)gridDim.y * blockIdx.z);
}

// The first fault of a launch: its kind, the thread, the block, and the number of the check.
__device__ inline void stratape_report(unsigned* fault, unsigned kind, unsigned check) {
  if (atomicCAS(&fault[0], 0u, kind) != 0u) return;
  fault[1] = threadIdx.x; fault[2] = threadIdx.y; fault[3] = threadIdx.z;
  fault[4] = blockIdx.x; fault[5] = blockIdx.y; fault[6] = blockIdx.z;
  fault[7] = check;
}
#ifdef STRATAPE_CHECK
#define STRATAPE_REQUIRE(condition, kind, check) \
  if (!(condition)) { stratape_report(stratape_fault, kind, check); return; }
#else
#define STRATAPE_REQUIRE(condition, kind, check)
#endif

// The tape: a word of each thread beside those of its neighbours, so that a warp reads and writes whole lines.
__device__ inline stratape_usize stratape_bits(double x) { return (stratape_usize)__double_as_longlong(x); }
__device__ inline stratape_usize stratape_bits(float x) { return __float_as_uint(x); }
template <class T> __device__ inline stratape_usize stratape_bits(T x) { return (stratape_usize)x; }
template <class T> struct stratape_from { __device__ static T bits(stratape_usize x) { return (T)x; } };
template <> struct stratape_from<double> { __device__ static double bits(stratape_usize x) { return __longlong_as_double((long long)x); } };
template <> struct stratape_from<float> { __device__ static float bits(stratape_usize x) { return __uint_as_float((unsigned)x); } };
struct stratape_stack {
  stratape_usize* words;
  stratape_usize room, step, used;
  unsigned* fault;
  __device__ stratape_stack(unsigned char* tape, stratape_usize bytes, unsigned* fault)
      : words((stratape_usize*)tape + stratape_block() * stratape_threads() + stratape_thread()), room(bytes / 8),
        step(stratape_threads() * gridDim.x * gridDim.y * gridDim.z), used(0), fault(fault) {}
  template <class T> __device__ void push(T x) {
    // One thread of a warp reports, once: the words of a fault are far away.
    if (used < room) words[used * step] = stratape_bits(x);
    else if (used == room && (stratape_thread() & 31u) == __ffs(__activemask()) - 1u) stratape_report(fault, 3u, 0u);
    ++used;
  }
  template <class T> __device__ T pop() {
    --used;
    return used < room ? stratape_from<T>::bits(words[used * step]) : (T)0;
  }
};

template <class T> __device__ inline void stratape_add(T* place, T x) { atomicAdd(place, x); }
template <> __device__ inline void stratape_add(long long* place, long long x) { atomicAdd((stratape_usize*)place, (stratape_usize)x); }
template <class T> __device__ inline T stratape_fetch_add(T* place, T x) { return atomicAdd(place, x); }
template <> __device__ inline long long stratape_fetch_add(long long* place, long long x) {
  return (long long)atomicAdd((stratape_usize*)place, (stratape_usize)x);
}
template <class T> __device__ inline T stratape_fetch_min(T* place, T x) { return atomicMin(place, x); }
template <class T> __device__ inline T stratape_fetch_max(T* place, T x) { return atomicMax(place, x); }
template <class W, class T, class F> __device__ inline T stratape_swap(T* place, F f) {
  W* word = (W*)place; W old = *word, seen;
  do { seen = old; old = atomicCAS(word, seen, (W)stratape_bits(f(stratape_from<T>::bits(seen)))); } while (old != seen);
  return stratape_from<T>::bits(old);
}
template <> __device__ inline double stratape_fetch_min(double* place, double x) {
  return stratape_swap<stratape_usize>(place, [x](double old) { return fmin(old, x); });
}
template <> __device__ inline double stratape_fetch_max(double* place, double x) {
  return stratape_swap<stratape_usize>(place, [x](double old) { return fmax(old, x); });
}
template <> __device__ inline float stratape_fetch_min(float* place, float x) {
  return stratape_swap<unsigned>(place, [x](float old) { return fminf(old, x); });
}
template <> __device__ inline float stratape_fetch_max(float* place, float x) {
  return stratape_swap<unsigned>(place, [x](float old) { return fmaxf(old, x); });
}

// Adds the numbers of a warp that has come here whole, with one place, once; those of other warps one by one.
template <class T> __device__ inline void stratape_warp_add(T* place, T x) {
  int same = 0;
  if (__activemask() == 0xffffffffu) __match_all_sync(0xffffffffu, (stratape_usize)place, &same);
  if (!same) { atomicAdd(place, x); return; }
  for (int by = 16; by > 0; by >>= 1) x += __shfl_xor_sync(0xffffffffu, x, by);
  if ((stratape_thread() & 31u) == 0u) atomicAdd(place, x);
}

// The sum of the numbers of all threads of a block, in a fixed order, for its first thread.
template <class T> __device__ T stratape_block_sum(T x) {
  __shared__ T parts[32];
  const unsigned thread = (unsigned)stratape_thread(), threads = (unsigned)stratape_threads(), lane = thread & 31u;
  const unsigned left = threads - (thread - lane), count = left < 32u ? left : 32u;
  const unsigned mask = count == 32u ? 0xffffffffu : (1u << count) - 1u;
  for (unsigned by = 16u; by > 0u; by >>= 1) {
    const T other = __shfl_down_sync(mask, x, by);
    if (lane + by < count) x += other;
  }
  __syncthreads();
  if (lane == 0u) parts[thread >> 5] = x;
  __syncthreads();
  T sum = parts[0];
  if (thread == 0u) for (unsigned warp = 1u; warp < (threads + 31u) / 32u; ++warp) sum += parts[warp];
  return sum;
}
template <class T> __device__ inline void stratape_block_add(T* place, T x) {
  const T sum = stratape_block_sum(x);
  if (stratape_thread() == 0u) atomicAdd(place, sum);
}

// Additions that are carried out after the kernel, in a fixed order: of each its place (the last bit tells a float from a double) and its number, beside those of other threads.
#ifdef STRATAPE_DETERMINISTIC
struct stratape_ledger {
  stratape_usize* words;
  stratape_usize room, step, used;
  unsigned* fault;
  __device__ stratape_ledger(stratape_usize* words, stratape_usize room, unsigned* fault)
      : words(words + stratape_block() * stratape_threads() + stratape_thread()), room(room),
        step(stratape_threads() * gridDim.x * gridDim.y * gridDim.z), used(0), fault(fault) {}
  __device__ void write(stratape_usize place, stratape_usize bits) {
    if (used < room) { words[2 * used * step] = place; words[(2 * used + 1) * step] = bits; }
    else if (used == room) stratape_report(fault, 3u, 0u);
    ++used;
  }
  __device__ void add(double* place, double x) { write((stratape_usize)place, stratape_bits(x)); }
  __device__ void add(float* place, float x) { write((stratape_usize)place | 1u, stratape_bits(x)); }
  template <class T> __device__ void block_add(T* place, T x) {
    const T sum = stratape_block_sum(x);
    if (stratape_thread() == 0u) add(place, sum);
  }
};
#define STRATAPE_LEDGER , stratape_usize* stratape_entries, const stratape_usize stratape_room
#define STRATAPE_LEDGER_OPEN stratape_ledger ledger(stratape_entries, stratape_room, stratape_fault);
#define STRATAPE_ADD(place, x) ledger.add(place, x)
#define STRATAPE_WARP_ADD(place, x) ledger.add(place, x)
#define STRATAPE_BLOCK_ADD(place, x) ledger.block_add(place, x)
#else
#define STRATAPE_LEDGER
#define STRATAPE_LEDGER_OPEN
#define STRATAPE_ADD(place, x) stratape_add(place, x)
#define STRATAPE_WARP_ADD(place, x) stratape_warp_add(place, x)
#define STRATAPE_BLOCK_ADD(place, x) stratape_block_add(place, x)
#endif

// Fills shared memory with zeros, all threads together.
template <class T> __device__ void stratape_share_zeros(T* place, stratape_usize count) {
  for (stratape_usize i = stratape_thread(); i < count; i += stratape_threads()) place[i] = (T)0;
  __syncthreads();
}

// Functions of Rust's numbers that C++ does not have, or has otherwise.
template <class T> __device__ inline T stratape_powi(T x, int n) {
  T result = (T)1; unsigned left = n < 0 ? 0u - (unsigned)n : (unsigned)n;
  while (true) { if (left & 1u) result *= x; left >>= 1; if (!left) break; x *= x; }
  return n < 0 ? (T)1 / result : result;
}
template <class T> __device__ inline T stratape_signum(T x) { return x != x ? x : copysign((T)1, x); }
template <class T> __device__ inline T stratape_clamp(T x, T low, T high) { return x < low ? low : x > high ? high : x; }
template <class T> __device__ inline T stratape_rem_euclid(T x, T y) { const T r = fmod(x, y); return r < (T)0 ? r + fabs(y) : r; }
template <class T> __device__ inline T stratape_div_euclid(T x, T y) {
  const T q = trunc(x / y);
  return fmod(x, y) < (T)0 ? (y > (T)0 ? q - (T)1 : q + (T)1) : q;
}
template <class T> __device__ inline T stratape_int_rem_euclid(T x, T y) { const T r = x % y; return r < (T)0 ? (y < (T)0 ? r - y : r + y) : r; }
template <class T> __device__ inline T stratape_int_div_euclid(T x, T y) {
  const T q = x / y;
  return x % y < (T)0 ? (y > (T)0 ? q - (T)1 : q + (T)1) : q;
}
template <class T> __device__ inline T stratape_int_pow(T x, unsigned n) {
  T result = (T)1;
  for (; n; n >>= 1) { if (n & 1u) result *= x; x *= x; }
  return result;
}
template <class T> __device__ inline T stratape_min(T a, T b) { return b < a ? b : a; }
template <class T> __device__ inline T stratape_max(T a, T b) { return b > a ? b : a; }
// As `as` casts: cut at the ends of the type, zero for what is no number.
template <class T> __device__ inline T stratape_to_int(double x, double low, double high, T least, T most) {
  return x != x ? (T)0 : x <= low ? least : x >= high ? most : (T)x;
}
__device__ inline long long stratape_order(double x) { const long long b = __double_as_longlong(x); return b ^ (long long)((stratape_usize)(b >> 63) >> 1); }
__device__ inline int stratape_order(float x) { const int b = __float_as_int(x); return b ^ (int)((unsigned)(b >> 31) >> 1); }

// 1 / sqrt(x) without a branch, so that iterations of a loop run side by side. From an approximation of twenty bits, one step of third order.
__device__ __forceinline__ double stratape_rsqrt(double x) {
  const bool small = x < 0x1p-1000;
  const double s = small ? x * 0x1p+200 : x;
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(s));
  const double e = fma(-(s * y), y, 1.0);
  const double refined = fma(y * e, fma(0.375, e, 0.5), y);
  const double found = s > 0.0 && s < __longlong_as_double(0x7ff0000000000000ll) ? refined : y;
  return small ? found * 0x1p+100 : found;
}
__device__ __forceinline__ float stratape_rsqrt(float x) { return rsqrtf(x); }
