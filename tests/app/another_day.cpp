// To be preloaded: a clock on the wall that is a day late.
#include <ctime>
#include <dlfcn.h>
#include <sys/time.h>

#pragma GCC visibility push(default)
extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  using Call = int (*)(clockid_t, timespec*);
  static const auto real = reinterpret_cast<Call>(dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = real(clock, time);
  if (clock == CLOCK_REALTIME) time->tv_sec -= 24 * 60 * 60;
  return result;
}

time_t time(time_t* to) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(timeval* to, void*) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *to = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}
}
#pragma GCC visibility pop
