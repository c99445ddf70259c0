#include "dasgd/virtual_time/time_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "dasgd/base/checked_time.hpp"
#include "dasgd/base/input_error.hpp"

namespace dasgd {

TimeModel TimeModel::constant(Nanoseconds time) {
  TimeModel model;
  model.low_ = model.high_ = time;
  return model;
}

TimeModel TimeModel::per_item(std::vector<Nanoseconds> times) {
  TimeModel model;
  model.kind_ = Kind::per_item;
  for (const Nanoseconds time : times) model.table_.push_back({time});
  return model;
}

TimeModel TimeModel::uniform(Nanoseconds low, Nanoseconds high) {
  TimeModel model;
  model.kind_ = Kind::uniform;
  model.low_ = low;
  model.high_ = high;
  return model;
}

TimeModel TimeModel::lognormal(Nanoseconds median, double sigma) {
  TimeModel model;
  model.kind_ = Kind::lognormal;
  model.low_ = median;
  model.sigma_ = sigma;
  return model;
}

TimeModel TimeModel::exponential(Nanoseconds mean) {
  TimeModel model;
  model.kind_ = Kind::exponential;
  model.low_ = mean;
  return model;
}

TimeModel TimeModel::replay(std::vector<std::vector<Nanoseconds>> recorded) {
  TimeModel model;
  model.kind_ = Kind::replay;
  model.table_ = std::move(recorded);
  for (auto& times : model.table_)
    if (times.empty()) times.push_back(0);
  return model;
}

TimeModel TimeModel::custom(Draw draw) {
  TimeModel model;
  model.kind_ = Kind::custom;
  model.custom_ = std::move(draw);
  return model;
}

Nanoseconds TimeModel::draw_other(std::uint64_t seed, Purpose purpose, std::size_t item,
                                  std::uint64_t index) const {
  if (kind_ == Kind::per_item || kind_ == Kind::replay) {
    const auto& times = table_[item];
    return times[index % times.size()];
  }
  Random random(seed, purpose, static_cast<std::uint32_t>(item), static_cast<std::uint32_t>(index));
  const auto scale = static_cast<double>(low_);
  const char* const what = purpose == Purpose::latency ? "latency" : "compute";
  if (kind_ == Kind::custom) {
    const Nanoseconds time = custom_(item, index, random);
    if (time < 0) throw InputError(std::string(what) + ": the time model gave a negative time");
    return time;
  }
  if (kind_ == Kind::lognormal) return duration(scale * std::exp(sigma_ * random.normal()), what);
  if (kind_ == Kind::exponential) return duration(-scale * std::log1p(-random.uniform()), what);
  return duration(scale + random.uniform() * static_cast<double>(high_ - low_), what);
}

Nanoseconds TimeModel::usual() const {
  if (kind_ == Kind::uniform) return low_ + (high_ - low_) / 2;
  const bool is_named = kind_ == Kind::lognormal || kind_ == Kind::exponential;
  return is_named ? low_ : draw(0, Purpose::compute_time, 0, 0);
}

Nanoseconds TimeModel::smallest() const {
  if (kind_ == Kind::constant || kind_ == Kind::uniform) return low_;
  if (table_.empty()) return 0;
  Nanoseconds least = std::numeric_limits<Nanoseconds>::max();
  for (const auto& times : table_)
    least = std::min(least, *std::min_element(times.begin(), times.end()));
  return least;
}

Nanoseconds TimeModel::largest() const {
  if (kind_ == Kind::constant || kind_ == Kind::uniform) return high_;
  if (table_.empty()) return std::numeric_limits<Nanoseconds>::max();
  Nanoseconds most = 0;
  for (const auto& times : table_)
    most = std::max(most, *std::max_element(times.begin(), times.end()));
  return most;
}

std::size_t TimeModel::items() const { return table_.size(); }

}  // namespace dasgd
