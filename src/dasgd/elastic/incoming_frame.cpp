#include "dasgd/elastic/incoming_frame.hpp"

#include "dasgd/core/packing.hpp"

namespace dasgd::elastic {
namespace {

// And without gaps.
bool is_of_one_origin(const std::vector<GradientFacts>& facts) {
  for (std::size_t i = 1; i < facts.size(); ++i) {
    const GradientName before = facts[i - 1].name;
    if (facts[i].name != GradientName{before.origin, before.sequence + 1}) return false;
  }
  return true;
}

}  // namespace

std::optional<std::span<std::byte>> IncomingFrame::begin(Message message, std::uint64_t bytes,
                                                         Allowed allowed,
                                                         const ProtocolOptions& options,
                                                         GradientPool& pool) {
  *this = {};
  message_ = std::move(message);
  if (const auto* g = std::get_if<GradientMessage>(&*message_)) {
    if (!allowed.gradients || g->format != options.format || bytes > options.update_bytes() ||
        (bytes == 0 && options.update_bytes() > 0))
      return std::nullopt;
    gradient_ = pool.take_beyond();
    static_cast<GradientFacts&>(*gradient_) = g->facts;
    gradient_->update.resize_bytes(options.update_bytes(), g->format);
    gradient_->update.shift = g->shift;
    if (bytes == options.update_bytes()) return gradient_->update.bytes();
    packed_.resize(bytes);
    return std::span(packed_);
  }
  if (auto* b = std::get_if<BundleMessage>(&*message_)) {
    // Only relays of a tree sum what several have made.
    if (options.limits.children == 0 && !is_of_one_origin(b->facts)) return std::nullopt;
    // Packed numbers are never longer than they lie in memory, but for what blocks say.
    if (!allowed.gradients || b->format != options.format || bytes > 2 * options.model_bytes() + 16)
      return std::nullopt;
    bundle_ = std::make_shared<Bundle>(std::move(b->facts), b->format, options.model_bytes());
    packed_.resize(bytes);
    return std::span(packed_);
  }
  if (const auto* s = std::get_if<Snapshot>(&*message_)) {
    if (!allowed.model || s->format != options.format || bytes != options.model_bytes())
      return std::nullopt;
    sums_ = std::make_shared<Bytes>(bytes);
    return std::span(*sums_);
  }
  if (bytes != 0) return std::nullopt;
  return std::span<std::byte>();
}

Parcel IncomingFrame::take_parcel(NumberFormat format) {
  const auto gradient = std::exchange(gradient_, nullptr);
  const auto bundle = std::exchange(bundle_, nullptr);
  const Bytes packed = std::exchange(packed_, {});
  if (bundle) {
    if (!unpack(packed, sum_bytes(format), bundle->bytes())) return {};
    return BundlePtr(bundle);
  }
  if (!gradient) return {};
  if (!packed.empty() && !unpack(packed, number_bytes(format), gradient->update.bytes())) return {};
  return GradientPtr(gradient);
}

}  // namespace dasgd::elastic
