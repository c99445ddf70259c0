#include "dasgd/transport/backlog.hpp"

#include <bit>
#include <span>
#include <stdexcept>
#include <utility>

namespace dasgd {
namespace {

void add_to(Bundle& sum, const Parcel& parcel) {
  if (parcel.bundle) {
    sum.add(*parcel.bundle);
  } else {
    sum.add(std::span(&parcel.gradient, 1));
  }
}

}  // namespace

void Backlog::add(Parcel parcel) {
  const GradientName first = parcel.first_name();
  if (!std::has_single_bit(parcel.size()) || first.sequence % parcel.size() != 0)
    throw std::logic_error("a bundle on a link is not a block of a power of two");
  const Place place{first.origin, std::countr_zero(parcel.size()), first.sequence};
  bytes_ += parcel.size_in_bytes();
  blocks_.push_back({place, std::move(parcel)});
  where_.emplace(place, std::prev(blocks_.end()));
  unpaired_.push_back(place);
  if (blocks_.size() > cap_) fold();
}

Parcel Backlog::take() {
  Parcel parcel = std::move(blocks_.front().parcel);
  bytes_ -= parcel.size_in_bytes();
  where_.erase(blocks_.front().place);
  std::erase(unpaired_, blocks_.front().place);
  blocks_.pop_front();
  return parcel;
}

void Backlog::fold() {
  for (const Place& place : std::exchange(unpaired_, {}))
    if (const auto at = where_.find(place); at != where_.end()) join_with_twins(at->second);
}

// The joined block stands where its older half stood.
void Backlog::join_with_twins(Blocks::iterator block) {
  for (;;) {
    const auto twin = where_.find(block->place.twin());
    if (twin == where_.end()) return;
    auto low = block, high = twin->second;
    const std::size_t facts = low->parcel.facts_bytes() + high->parcel.facts_bytes();
    if (!limit_.allows(facts, low->parcel.size_in_bytes())) return;
    if (high->place < low->place) std::swap(low, high);
    const auto sum = std::make_shared<Bundle>();
    add_to(*sum, low->parcel);
    add_to(*sum, high->parcel);
    const Place joined{low->place.origin, low->place.level + 1, low->place.first};
    bytes_ += sum->size_in_bytes();
    bytes_ -= low->parcel.size_in_bytes() + high->parcel.size_in_bytes();
    where_.erase(low->place);
    where_.erase(high->place);
    blocks_.erase(high);
    low->place = joined;
    low->parcel = BundlePtr(sum);
    where_.emplace(joined, low);
    block = low;
  }
}

}  // namespace dasgd
