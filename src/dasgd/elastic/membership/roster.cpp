#include "dasgd/elastic/membership/roster.hpp"

#define XXH_INLINE_ALL
#include <algorithm>
#include <numeric>
#include <utility>
#include <xxhash.h>

namespace dasgd::elastic {

WorkerId Roster::number(const Origin& origin) {
  const auto [at, is_new] = numbers_.emplace(origin, worker_id(origins_.size()));
  if (is_new) origins_.push_back(origin);
  return at->second;
}

std::optional<WorkerId> Roster::find(const Origin& origin) const {
  const auto at = numbers_.find(origin);
  return at == numbers_.end() ? std::nullopt : std::optional(at->second);
}

Hash Roster::hash(const GradientSet& names) const {
  std::vector<std::size_t> order(names.prefixes().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [this](std::size_t a, std::size_t b) { return origins_[a] < origins_[b]; });
  ByteWriter bytes;
  for (const std::size_t o : order) {
    if (names.prefixes()[o] == 0) continue;
    bytes.number(origins_[o]);
    bytes.number(names.prefixes()[o]);
  }
  std::vector<NameRange> ranges = names.exceptions();
  std::sort(ranges.begin(), ranges.end(), [this](const NameRange& a, const NameRange& b) {
    return a.origin == b.origin ? a.first < b.first : origin(a.origin) < origin(b.origin);
  });
  bytes.number<std::uint64_t>(ranges.size());
  for (const NameRange& range : ranges) {
    bytes.number(origin(range.origin));
    bytes.number(range.first);
    bytes.number(range.last);
  }
  const XXH128_hash_t hash = XXH3_128bits(bytes.bytes().data(), bytes.bytes().size());
  return {hash.high64, hash.low64};
}

std::span<const Origin> Introductions::news(const Roster& roster) {
  const auto news = roster.origins().subspan(announced_);
  announced_ = roster.size();
  return news;
}

void Introductions::hear(std::span<const Origin> origins, Roster& roster) {
  for (const Origin& origin : origins) theirs_.push_back(roster.number(origin));
}

std::optional<WorkerId> Introductions::ours(WorkerId theirs) const {
  return index(theirs) < theirs_.size() ? std::optional(theirs_[index(theirs)]) : std::nullopt;
}

void Introductions::write(const GradientSet& set, ByteWriter& to) {
  last_sent_.resize(std::max(last_sent_.size(), set.prefixes().size()), 0);
  std::vector<Change> changes;
  for (std::size_t o = 0; o < last_sent_.size(); ++o) {
    const Change now{worker_id(o), set.prefix(worker_id(o))};
    if (std::exchange(last_sent_[o], now.prefix) != now.prefix) changes.push_back(now);
  }
  to.array(std::span<const Change>(changes));
  to.array(std::span<const NameRange>(set.exceptions()));
}

GradientSet Introductions::read(ByteReader& from) {
  const auto known = [&](WorkerId& origin) {
    const auto found = ours(origin);
    if (!found) from.fail();
    origin = found.value_or(WorkerId{});
    if (found) last_received_.resize(std::max(last_received_.size(), index(origin) + 1), 0);
    return found.has_value();
  };
  for (Change change : from.array<Change>())
    if (known(change.origin)) last_received_[index(change.origin)] = change.prefix;
  std::vector<NameRange> ranges = from.array<NameRange>();
  for (NameRange& range : ranges) known(range.origin);
  if (!from.ok()) return {};
  std::sort(ranges.begin(), ranges.end());
  ByteWriter bytes;
  bytes.array(std::span<const std::uint32_t>(last_received_));
  bytes.array(std::span<const NameRange>(ranges));
  ByteReader whole(bytes.bytes());
  GradientSet set = GradientSet::read(whole);
  if (!whole.ok()) from.fail();
  return set;
}

}  // namespace dasgd::elastic
