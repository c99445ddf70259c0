// To be preloaded: a clock on the wall that jumps by years, forwards and back, every time somebody looks.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>

static atomic_uint looks;

int clock_gettime(clockid_t clock, struct timespec* time) {
  int (*real)(clockid_t, struct timespec*) = dlsym(RTLD_NEXT, "clock_gettime");
  const int result = real(clock, time);
  if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) return result;
  const unsigned look = atomic_fetch_add(&looks, 1);
  time->tv_sec += (look % 2 == 0 ? 1 : -1) * (time_t)(look % 7) * 31536000;
  return result;
}

time_t time(time_t* to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval* to, void* zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  to->tv_sec = now.tv_sec;
  to->tv_usec = now.tv_nsec / 1000;
  return 0;
}
