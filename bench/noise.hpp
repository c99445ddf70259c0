// How quiet the machine was while something was measured.
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace dasgd::bench {

/// Looks at /proc/stat and the load average when it is made and when it is asked.
class Noise {
 public:
  /// One line for a person, and a second one if the figures are not to be trusted.
  std::string report() const {
    const double total = static_cast<double>(all() - all_), load = load_average();
    const double stolen = share(static_cast<double>(steal() - steal_), total);
    const double others = share(static_cast<double>(busy() - busy_) - (own() - own_), total);
    std::string text = fmt::format(
        "machine: {} cores, load {:.1f} before and {:.1f} after; other programs took {:.1f} %, "
        "other "
        "machines {:.1f} % of its time\n",
        ::sysconf(_SC_NPROCESSORS_ONLN), load_, load, 100 * others, 100 * stolen);
    if (others > 0.05 || stolen > 0.01)
      text += "The machine was busy with something else: these figures say little.\n";
    return text;
  }

 private:
  static constexpr std::size_t idle_at = 3, waits_at = 4, steal_at = 7, fields = 8;

  static double share(double part, double whole) {
    return whole > 0 && part > 0 ? part / whole : 0;
  }
  // Ticks of all cores: user, nice, system, idle, waiting for disks, two kinds of interrupts,
  // stolen.
  static std::uint64_t ticks(bool (*counts)(std::size_t)) {
    std::ifstream stat("/proc/stat");
    std::string name;
    stat >> name;
    std::uint64_t sum = 0, value = 0;
    for (std::size_t i = 0; i < fields && stat >> value; ++i) sum += counts(i) ? value : 0;
    return sum;
  }
  static std::uint64_t all() {
    return ticks([](std::size_t) { return true; });
  }
  static std::uint64_t steal() {
    return ticks([](std::size_t i) { return i == steal_at; });
  }
  static std::uint64_t busy() {
    return ticks([](std::size_t i) { return i != idle_at && i != waits_at && i != steal_at; });
  }
  // Of this process and the children that have ended.
  static double own() {
    double time = 0;
    for (const int whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
      rusage usage{};
      ::getrusage(whose, &usage);
      for (const timeval& t : {usage.ru_utime, usage.ru_stime})
        time += static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    }
    return time * static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  static double load_average() {
    double load = 0;
    std::ifstream("/proc/loadavg") >> load;
    return load;
  }

  const std::uint64_t all_ = all(), steal_ = steal(), busy_ = busy();
  const double own_ = own(), load_ = load_average();
};

}  // namespace dasgd::bench
