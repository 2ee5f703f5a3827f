/* A CUDA driver in host memory, for tests on machines without a device.
 *
 * Work is done when it is put on a stream. What a device would do later is checked by vector clocks instead: every stream
 * knows up to where it comes after each other one, by events, waits and synchronisation, and an access that does not come after
 * the accesses it depends on ends the process with `race:`. So do frees of unknown memory and accesses past its end. What is
 * left when the process ends is told as `leaked:`.
 *
 * Copies to the host arrive when the host has waited for them, and not before; until then the bytes there are 0xee. Host memory that a
 * copy reads must be the same when the host has waited for it. Page-locked memory must not be freed before that.
 *
 * Kernels are known by name: see `cuLaunchKernel`.
 *
 * FAKE_MEMORY=n    bytes of device memory
 * FAKE_NO_POOLS=1  a device without memory pools
 * FAKE_DEVICES=n   number of devices
 * FAKE_LAG=n       events that have not passed the first n times they are asked
 * FAKE_PINNED=1    no page-locked memory but for pages that are mapped for the device
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <unistd.h>

typedef unsigned long long u64;
typedef int result;
enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_IMAGE = 200, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700 };
enum { STREAMS = 64, BLOCKS = 4096 };

typedef struct { u64 seen[STREAMS]; } clock_;
typedef struct { int used; int id; } stream_;
typedef struct { clock_ at; size_t asked; } event_;
typedef struct { char *at; size_t bytes; int writer; u64 written; u64 read[STREAMS]; } block_;
typedef struct { char *text; } module_;
typedef struct { module_ *module; char name[64]; int shared; } function_;

static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static stream_ streams[STREAMS];
static clock_ known[STREAMS], host;
static block_ blocks[BLOCKS];
static size_t in_use;
static int sticky, initialised, events, modules, contexts, pools, pinned;
static _Thread_local int current;

static void fatal(const char *what) {
  fprintf(stderr, "%s\n", what);
  fflush(stderr);
  _exit(99);
}

static size_t number(const char *name, size_t otherwise) {
  const char *text = getenv(name);
  return text ? (size_t)strtoull(text, 0, 10) : otherwise;
}

__attribute__((destructor)) static void leaks(void) {
  int open = 0, held = 0;
  for (int i = 0; i < STREAMS; i++) open += streams[i].used;
  for (int i = 0; i < BLOCKS; i++) held += blocks[i].at != 0;
  if (!sticky && (open || held || events || modules || contexts || pools || pinned))
    fprintf(stderr, "leaked: %d streams %d blocks %d events %d modules %d contexts %d pools %d pinned\n", open, held, events,
            modules, contexts, pools, pinned);
}

#define ENTER                                            \
  if (!initialised) fatal("race: before cuInit");        \
  pthread_mutex_lock(&big);                              \
  if (sticky) { pthread_mutex_unlock(&big); return sticky; }
#define LEAVE(x) do { result r_ = (x); pthread_mutex_unlock(&big); return r_; } while (0)
#define CURRENT if (!current && !sticky) fatal("race: no context is current")

static void join(clock_ *a, const clock_ *b) {
  for (int i = 0; i < STREAMS; i++) if (b->seen[i] > a->seen[i]) a->seen[i] = b->seen[i];
}

static int begin(stream_ *s) {
  if (!s || !s->used) fatal("race: no such stream");
  join(&known[s->id], &host);
  known[s->id].seen[s->id]++;
  return s->id;
}

static block_ *find(u64 ptr, size_t bytes) {
  for (int i = 0; i < BLOCKS; i++) {
    block_ *b = &blocks[i];
    if (b->at && ptr >= (u64)b->at && ptr < (u64)b->at + b->bytes) {
      if (ptr + bytes > (u64)b->at + b->bytes) fatal("race: past the end of device memory");
      return b;
    }
  }
  return 0;
}

static void access_(int s, u64 ptr, size_t bytes, int write) {
  if (!bytes) return;
  block_ *b = find(ptr, bytes);
  if (!b) fatal("race: not device memory");
  if (b->written > known[s].seen[b->writer]) fatal("race: not after the last write");
  if (write) {
    for (int i = 0; i < STREAMS; i++) if (b->read[i] > known[s].seen[i]) fatal("race: not after a read");
    b->writer = s;
    b->written = known[s].seen[s];
    memset(b->read, 0, sizeof b->read);
  } else b->read[s] = known[s].seen[s];
}

/* A copy that the host has not waited for: `data` goes to `host`, or `host` is read and has this sum. */
typedef struct copy_ { struct copy_ *next; int stream; u64 at; char *host; size_t bytes; char *data; u64 sum; } copy_;
static copy_ *copies;

static u64 sum(const char *from, size_t n) {
  u64 s = 14695981039346656037u;
  for (size_t i = 0; i < n; i++) s = (s ^ (unsigned char)from[i]) * 1099511628211u;
  return s;
}

static void finish(copy_ *c) {
  if (c->data) memcpy(c->host, c->data, c->bytes);
  else if (sum(c->host, c->bytes) != c->sum) fatal("race: host memory changed while it was copied");
  free(c->data);
}

/* Ends the copies that the clock comes after, of those that touch the memory. */
static void settle(const clock_ *now, const char *host, size_t n) {
  for (copy_ **at = &copies; *at;) {
    copy_ *c = *at;
    if (c->at > now->seen[c->stream] || (host && (host + n <= c->host || c->host + c->bytes <= host))) { at = &c->next; continue; }
    finish(c);
    *at = c->next;
    free(c);
  }
}

/* Whether a copy that the clock does not come after uses the memory; one that reads it counts if `write`. */
static int busy(const char *host, size_t n, int write) {
  for (copy_ *c = copies; c; c = c->next)
    if (host < c->host + c->bytes && c->host < host + n && (write || c->data)) return 1;
  return 0;
}

static void begin_copy(int s, char *host, size_t n, const char *data) {
  settle(&known[s], host, n);
  if (busy(host, n, data != 0)) fatal("race: host memory that another copy uses");
  copy_ *c = calloc(1, sizeof *c);
  *c = (copy_){copies, s, known[s].seen[s], host, n, 0, 0};
  if (data) {
    c->data = malloc(n);
    memcpy(c->data, data, n);
    memset(host, 0xee, n);
  } else c->sum = sum(host, n);
  copies = c;
}

static result allocate(u64 *out, size_t bytes, int s) {
  if (in_use + bytes > number("FAKE_MEMORY", 1u << 30)) return OUT_OF_MEMORY;
  for (int i = 0; i < BLOCKS; i++) {
    block_ *b = &blocks[i];
    if (b->at) continue;
    memset(b, 0, sizeof *b);
    b->at = malloc(bytes);
    memset(b->at, 0xcd, bytes);
    b->bytes = bytes;
    if (s >= 0) { /* otherwise it is everyone's at once */
      b->writer = s;
      b->written = known[s].seen[s];
    }
    in_use += bytes;
    *out = (u64)b->at;
    return OK;
  }
  return OUT_OF_MEMORY;
}

static void release(u64 ptr) {
  block_ *b = find(ptr, 0);
  if (!b || (u64)b->at != ptr) fatal("race: free of unknown memory");
  free(b->at);
  in_use -= b->bytes;
  b->at = 0;
}

result cuInit(unsigned flags) { (void)flags; initialised = 1; return number("FAKE_DEVICES", 1) ? OK : 100; }
result cuGetErrorString(result r, const char **text) {
  *text = r == ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : "some error";
  return OK;
}
result cuDeviceGetCount(int *n) { ENTER; *n = (int)number("FAKE_DEVICES", 1); LEAVE(OK); }
result cuDeviceGet(int *d, int ordinal) { ENTER; *d = ordinal; LEAVE(OK); }
result cuDeviceGetName(char *name, int len, int d) { ENTER; (void)d; snprintf(name, (size_t)len, "Fake"); LEAVE(OK); }
result cuDeviceGetAttribute(int *value, int attribute, int d) {
  ENTER;
  (void)d;
  switch (attribute) {
    case 1: *value = 1024; break;
    case 2: case 3: *value = 1024; break;
    case 4: *value = 64; break;
    case 5: *value = 0x7fffffff; break;
    case 6: case 7: *value = 65535; break;
    case 75: *value = 9; break;
    case 76: *value = 0; break;
    case 97: *value = 227 << 10; break;
    case 115: *value = getenv("FAKE_NO_POOLS") ? 0 : 1; break;
    default: LEAVE(INVALID_VALUE);
  }
  LEAVE(OK);
}
result cuDevicePrimaryCtxRetain(void **c, int d) { ENTER; (void)d; contexts++; *c = &current; LEAVE(OK); }
result cuDevicePrimaryCtxRelease_v2(int d) { ENTER; (void)d; contexts--; LEAVE(OK); }
result cuCtxSetCurrent(void *c) { ENTER; current = c != 0; LEAVE(OK); }
result cuCtxSynchronize(void) {
  CURRENT; ENTER;
  for (int i = 0; i < STREAMS; i++) join(&host, &known[i]);
  settle(&host, 0, 0);
  LEAVE(OK);
}

result cuStreamCreate(void **out, unsigned flags) {
  CURRENT; ENTER;
  (void)flags;
  for (int i = 0; i < STREAMS; i++) if (!streams[i].used) {
    streams[i].used = 1;
    streams[i].id = i;
    *out = &streams[i];
    LEAVE(OK);
  }
  LEAVE(OUT_OF_MEMORY);
}
result cuStreamDestroy_v2(void *s) { CURRENT; ENTER; ((stream_ *)s)->used = 0; LEAVE(OK); }
result cuStreamSynchronize(void *s) { CURRENT; ENTER; join(&host, &known[((stream_ *)s)->id]); settle(&host, 0, 0); LEAVE(OK); }
result cuStreamWaitEvent(void *s, void *e, unsigned flags) {
  CURRENT; ENTER;
  (void)flags;
  join(&known[begin(s)], &((event_ *)e)->at);
  LEAVE(OK);
}
result cuEventCreate(void **e, unsigned flags) { CURRENT; ENTER; (void)flags; *e = calloc(1, sizeof(event_)); events++; LEAVE(OK); }
result cuEventRecord(void *e, void *s) { CURRENT; ENTER; ((event_ *)e)->at = known[begin(s)]; LEAVE(OK); }
result cuEventSynchronize(void *e) { CURRENT; ENTER; join(&host, &((event_ *)e)->at); settle(&host, 0, 0); LEAVE(OK); }
result cuEventQuery(void *e) {
  CURRENT; ENTER;
  if (((event_ *)e)->asked++ < number("FAKE_LAG", 0)) LEAVE(NOT_READY);
  join(&host, &((event_ *)e)->at);
  settle(&host, 0, 0);
  LEAVE(OK);
}
result cuEventDestroy_v2(void *e) { ENTER; free(e); events--; LEAVE(OK); }

result cuMemPoolCreate(void **p, const void *props) { CURRENT; ENTER; (void)props; pools++; *p = &pools; LEAVE(OK); }
result cuMemPoolDestroy(void *p) { ENTER; (void)p; pools--; LEAVE(OK); }
result cuMemPoolSetAttribute(void *p, int a, void *v) { ENTER; (void)p; (void)a; (void)v; LEAVE(OK); }
result cuMemPoolGetAttribute(void *p, int a, void *v) { ENTER; (void)p; (void)a; *(u64 *)v = in_use; LEAVE(OK); }
result cuMemPoolTrimTo(void *p, size_t n) { ENTER; (void)p; (void)n; LEAVE(OK); }
result cuMemAllocFromPoolAsync(u64 *out, size_t bytes, void *p, void *s) { CURRENT; ENTER; (void)p; LEAVE(allocate(out, bytes, begin(s))); }
result cuMemAlloc_v2(u64 *out, size_t bytes) { CURRENT; ENTER; LEAVE(allocate(out, bytes, -1)); }
result cuMemFreeAsync(u64 ptr, void *s) {
  CURRENT; ENTER;
  block_ *b = find(ptr, 0);
  if (b) access_(begin(s), ptr, b->bytes, 1);
  release(ptr);
  LEAVE(OK);
}
result cuMemFree_v2(u64 ptr) { CURRENT; ENTER; release(ptr); LEAVE(OK); }
result cuMemGetInfo_v2(size_t *f, size_t *total) {
  CURRENT; ENTER;
  *total = number("FAKE_MEMORY", 1u << 30);
  *f = *total - in_use;
  LEAVE(OK);
}
result cuMemHostAlloc(void **p, size_t bytes, unsigned flags) {
  CURRENT; ENTER;
  if (!(flags & 2) && getenv("FAKE_PINNED")) LEAVE(OUT_OF_MEMORY);
  size_t whole = (bytes + sizeof(size_t) + 8191) / 4096 * 4096;
  char *at = aligned_alloc(4096, whole);
  *(size_t *)at = bytes;
  *p = at + 4096;
  pinned++;
  LEAVE(OK);
}
result cuMemHostGetDevicePointer_v2(u64 *out, void *p, unsigned flags) { CURRENT; ENTER; (void)flags; *out = (u64)p; LEAVE(OK); }
result cuMemFreeHost(void *p) {
  CURRENT; ENTER;
  char *at = (char *)p - 4096;
  if (busy(p, *(size_t *)at, 1)) fatal("race: host memory freed while it is copied");
  free(at);
  pinned--;
  LEAVE(OK);
}
result cuMemcpyHtoDAsync_v2(u64 to, const void *from, size_t n, void *s) {
  CURRENT; ENTER;
  int id = begin(s);
  access_(id, to, n, 1);
  begin_copy(id, (char *)from, n, 0);
  memcpy((void *)to, from, n);
  LEAVE(OK);
}
result cuMemcpyDtoHAsync_v2(void *to, u64 from, size_t n, void *s) {
  CURRENT; ENTER;
  int id = begin(s);
  access_(id, from, n, 0);
  begin_copy(id, to, n, (const char *)from);
  LEAVE(OK);
}
result cuMemcpyDtoDAsync_v2(u64 to, u64 from, size_t n, void *s) {
  CURRENT; ENTER;
  int id = begin(s);
  access_(id, from, n, 0);
  access_(id, to, n, 1);
  memcpy((void *)to, (void *)from, n);
  LEAVE(OK);
}
result cuMemsetD8Async(u64 to, unsigned char value, size_t n, void *s) {
  CURRENT; ENTER;
  int id = begin(s);
  if (find(to, n)) access_(id, to, n, 1); /* else the pinned page of faults */
  memset((void *)to, value, n);
  LEAVE(OK);
}

result cuModuleLoadData(void **out, const char *image) {
  CURRENT; ENTER;
  if (strncmp(image, "FAKE ", 5)) LEAVE(INVALID_IMAGE);
  module_ *m = calloc(1, sizeof *m);
  m->text = strdup(image);
  modules++;
  *out = m;
  LEAVE(OK);
}
result cuModuleUnload(void *m) { CURRENT; ENTER; free(((module_ *)m)->text); free(m); modules--; LEAVE(OK); }
result cuModuleGetFunction(void **out, void *module, const char *name) {
  CURRENT; ENTER;
  static function_ functions[256];
  static int count;
  module_ *m = module;
  char search[80];
  snprintf(search, sizeof search, " %s(", name);
  if (!strstr(m->text, search)) LEAVE(NOT_FOUND);
  function_ *f = &functions[count++ % 256];
  f->module = m;
  f->shared = 48 << 10;
  snprintf(f->name, sizeof f->name, "%s", name);
  *out = f;
  LEAVE(OK);
}
result cuFuncGetAttribute(int *value, int attribute, void *f) {
  CURRENT; ENTER;
  int many = strcmp(((function_ *)f)->name, "registers") == 0;
  *value = attribute == 0 ? (many ? 256 : 1024) : 0;
  LEAVE(OK);
}
result cuFuncSetAttribute(void *f, int attribute, int value) {
  CURRENT; ENTER;
  if (attribute == 8) ((function_ *)f)->shared = value;
  LEAVE(OK);
}

#define P(i, type) (*(type *)params[i])
result cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void *stream, void **params, void **extra) {
  CURRENT; ENTER;
  (void)extra;
  function_ *f = function;
  int s = begin(stream), checking = strstr(f->module->text, "-DSTRATAPE_CHECK=1") != 0;
  if ((int)shared > f->shared) LEAVE(INVALID_VALUE);
  u64 threads = (u64)gx * gy * gz * bx * by * bz;
  if (!strcmp(f->name, "axpy")) {
    double *y = P(0, double *), *x = P(2, double *), a = P(4, double);
    u64 y_len = P(1, u64), x_len = P(3, u64);
    unsigned *fault = P(7, unsigned *);
    access_(s, (u64)y, y_len * 8, 1);
    access_(s, (u64)x, x_len * 8, 0);
    for (u64 i = 0; i < threads && i < x_len; i++) {
      if (i < y_len) { y[i] += a * x[i]; continue; }
      if (!checking) { sticky = ILLEGAL_ADDRESS; break; }
      if (!fault[0]) { fault[0] = 1; fault[1] = (unsigned)(i % bx); fault[4] = (unsigned)(i / bx); }
    }
  } else if (!strcmp(f->name, "walk")) {
    double *out = P(0, double *);
    u64 n = P(2, u64), tape = P(3, u64), each = P(4, u64);
    unsigned *fault = P(5, unsigned *);
    access_(s, (u64)out, P(1, u64) * 8, 1);
    if (tape) access_(s, tape, each * threads, 1);
    for (u64 t = 0; t < threads; t++) {
      double *mine = (double *)(tape + t * each), sum = 0;
      for (u64 k = 0; k < n; k++) {
        if ((k + 1) * 8 > each) {
          if (!fault[0]) { fault[0] = 3; fault[1] = (unsigned)(t % bx); fault[4] = (unsigned)(t / bx); }
          break;
        }
        mine[k] = (double)k;
        sum += mine[k];
      }
      out[t] = sum;
    }
  } else if (!strcmp(f->name, "scatter")) {
    double *y = P(0, double *), *x = P(2, double *);
    u64 y_len = P(1, u64), x_len = P(3, u64);
    unsigned *fault = P(6, unsigned *);
    int fixed = strstr(f->module->text, "-DSTRATAPE_DETERMINISTIC=1") != 0;
    access_(s, (u64)y, y_len * 8, 1);
    access_(s, (u64)x, x_len * 8, 0);
    u64 *entries = fixed ? P(7, u64 *) : 0, room = fixed ? P(8, u64) : 0;
    if (fixed) access_(s, (u64)entries, room * threads * 16, 1);
    for (u64 i = 0; i < x_len; i++) {
      u64 t = i % threads, k = i / threads;
      if (!fixed) { y[i % y_len] += x[i]; continue; }
      if (k >= room) { fault[0] = 3; continue; }
      entries[2 * k * threads + t] = (u64)(y + i % y_len);
      memcpy(&entries[(2 * k + 1) * threads + t], &x[i], 8);
    }
  } else if (!strcmp(f->name, "stratape_carry_out_kernel")) {
    u64 *entries = P(0, u64 *), all = P(1, u64), room = P(2, u64);
    if (room) access_(s, (u64)entries, room * all * 16, 0);
    for (u64 k = 0; k < room; k++)
      for (u64 t = 0; t < all; t++) {
        u64 place = entries[2 * k * all + t], number = entries[(2 * k + 1) * all + t];
        double x;
        float y;
        memcpy(&x, &number, 8);
        memcpy(&y, &number, 4);
        if (place & 1) *(float *)(place & ~(u64)1) += y;
        else if (place) *(double *)place += x;
      }
  } else if (!strcmp(f->name, "types")) {
    double *out = P(0, double *);
    access_(s, (u64)out, P(1, u64) * 8, 1);
    out[0] = P(2, _Bool); out[1] = P(3, signed char); out[2] = P(4, short); out[3] = P(5, int); out[4] = (double)P(6, long long);
    out[5] = P(7, unsigned char); out[6] = P(8, unsigned short); out[7] = P(9, unsigned); out[8] = (double)P(10, u64);
    out[9] = P(11, float); out[10] = P(12, double);
  } else if (!strcmp(f->name, "shape")) {
    unsigned *out = P(0, unsigned *);
    unsigned x_only = strstr(f->module->text, "-DSTRATAPE_GRID_X_ONLY=1") != 0;
    unsigned fixed = strstr(f->module->text, "-DSTRATAPE_DETERMINISTIC=1") != 0;
    unsigned all[9] = {gx, gy, gz, bx, by, bz, x_only, fixed, (unsigned)checking};
    access_(s, (u64)out, P(1, u64) * 4, 1);
    memcpy(out, all, sizeof all);
  }
  LEAVE(OK);
}
