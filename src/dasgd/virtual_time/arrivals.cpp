#include "dasgd/virtual_time/arrivals.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fstream>

#include "dasgd/base/files/open_file.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd {
namespace {

ArrivalTimes read_times(const std::string& path) {
  std::ifstream file = open_file(path);
  if (!file)
    throw InputError(
        path + ": cannot be opened; arrivals are poisson:RATE or a file with a time per line");
  ArrivalTimes result;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    line.erase(std::min(line.find('#'), line.size()));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty()) continue;
    try {
      const Nanoseconds time = parse_duration(line).count();
      if (!result.times.empty() && time < result.times.back())
        throw InputError("is before the line above; times ascend");
      result.times.push_back(time);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}:{}: {}", path, number, error.what()));
    }
  }
  if (result.times.empty()) throw InputError(path + ": holds no times");
  return result;
}

}  // namespace

ArrivalTimes parse_arrivals(const std::string& text) {
  constexpr std::string_view poisson = "poisson:";
  if (!text.starts_with(poisson)) return read_times(text);
  const double rate = parse_real(text.substr(poisson.size()));
  if (!(rate >= 1e-6 && rate <= 1e9))
    throw InputError("\"" + text + "\": RATE is a number of samples per second, from 1e-6 to 1e9");
  return {.per_second = rate, .times = {}};
}

/// One worker's.
class ArrivalQueue::Source final : public SampleSource {
 public:
  explicit Source(ArrivalQueue& queue) : queue_(queue) {}
  Draw next() override { return queue_.take(rows_); }

 private:
  ArrivalQueue& queue_;
  std::vector<std::uint32_t> rows_;
};

ArrivalQueue::ArrivalQueue(ArrivalTimes times, std::uint64_t seed, std::size_t samples,
                           std::size_t batch)
    : times_(std::move(times)), seed_(seed), samples_(samples), batch_(batch) {}

void ArrivalQueue::advance(Nanoseconds now) {
  while ((!coming_.empty() || make_one_more()) && coming_.front() <= now) {
    coming_.pop_front();
    ++arrived_;
  }
}

std::optional<Nanoseconds> ArrivalQueue::next_batch_at() {
  const std::size_t waiting = arrived_ - taken_;
  const std::size_t missing = std::max<std::size_t>(1, batch_ - std::min(batch_, waiting));
  while (coming_.size() < missing && make_one_more()) {
  }
  if (coming_.empty()) return std::nullopt;
  return coming_[std::min(missing, coming_.size()) - 1];
}

bool ArrivalQueue::make_one_more() {
  if (times_.per_second == 0) {
    if (made_ == times_.times.size()) return false;
    coming_.push_back(times_.times[made_++]);
    return true;
  }
  Random random(seed_, Purpose::arrivals, static_cast<std::uint32_t>(made_),
                static_cast<std::uint32_t>(made_ >> 32));
  last_ += -std::log1p(-random.uniform()) / times_.per_second;
  if (last_ > 9e9) return false;  // virtual time ends there
  ++made_;
  coming_.push_back(static_cast<Nanoseconds>(last_ * 1e9));
  return true;
}

std::unique_ptr<SampleSource> ArrivalQueue::make_source() {
  return std::make_unique<Source>(*this);
}

Draw ArrivalQueue::take(std::vector<std::uint32_t>& rows) {
  const std::size_t waiting = arrived_ - taken_;
  if (waiting < batch_ && (!coming_.empty() || make_one_more())) return Draw::none_now();
  if (waiting == 0) return Draw::no_more();
  rows.resize(std::min(batch_, waiting));
  for (auto& row : rows) row = static_cast<std::uint32_t>(taken_++ % samples_);
  return Draw::batch(rows, taken_);
}

}  // namespace dasgd
