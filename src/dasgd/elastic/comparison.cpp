#include "dasgd/elastic/comparison.hpp"

namespace dasgd::elastic {

void Comparison::tick(bool is_to_send, Nanoseconds now) {
  if (heard_ && now - heard_at_ > options_.patience.gone) {
    heard_.reset();
    not_before_ = now + options_.patience.gone;
  }
  if (options_.compare_every == 0 || !is_to_send || now - wanted_at_ < options_.compare_every)
    return;
  wanted_ = true;
  wanted_at_ = now;
}

void Comparison::hear(WorkerId from, ModelDigest of_other, Nanoseconds now) {
  if (heard_ || now < not_before_) return;
  heard_ = {from, std::move(of_other)};
  heard_at_ = now;
}

std::optional<std::vector<Parcel>> Comparison::begin(const Holdings& held) {
  if (std::exchange(wanted_, false)) {
    under_way_ = {Membership::self, {held.names(), {}}};
    return std::vector<Parcel>();
  }
  if (!heard_ || heard_->of_other.names.count_missing_from(held.names()) > 0) return std::nullopt;
  under_way_ = std::exchange(heard_, std::nullopt);
  return held.log().all_of(held.names().without(under_way_->of_other.names));
}

std::optional<Comparison::Difference> Comparison::end(const Hash& digest) {
  auto done = std::exchange(under_way_, std::nullopt);
  if (done->from == Membership::self) {
    own_ = {std::move(done->of_other.names), digest};
    ++sent_;
    return std::nullopt;
  }
  if (done->of_other.digest != digest) return done;
  ++equal_;
  return std::nullopt;
}

}  // namespace dasgd::elastic
