#include "dasgd/cluster/messages.hpp"

#include <concepts>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace dasgd::cluster {
namespace {

template <typename Message, typename Kind>
concept Is = std::same_as<std::remove_const_t<Message>, Kind>;

// What travels of a message, for both directions.
auto fields(Is<Stop> auto& m) { return std::tie(m.reason); }
auto fields(Is<TargetReached> auto&) { return std::tie(); }
auto fields(Is<Views> auto& m) { return std::tie(m.workers); }
auto fields(Is<TracePart> auto& m) { return std::tie(m.worker, m.up_to, m.lines, m.left_out); }
auto fields(Is<WorkerReport> auto& m) {
  return std::tie(m.computed, m.duplicated, m.applied, m.digest, m.S, m.S_hat, m.W,
                  m.noncausal_applications, m.copies_dropped, m.folded, m.sent, m.waited, m.samples,
                  m.iterations, m.time, m.squared_gradients, m.halvings, m.recent_loss,
                  m.look_ahead, m.residual);
}
auto fields(Is<RankReport> auto& m) { return std::tie(m.workers, m.stop_reason, m.failure); }
auto fields(Is<StateRequest> auto&) { return std::tie(); }
auto fields(Is<StatePart> auto& m) { return std::tie(m.worker, m.bytes, m.last); }
auto fields(Is<EarlyLoss> auto& m) { return std::tie(m.size); }
auto fields(Is<TraceAck> auto& m) { return std::tie(m.lines); }
auto fields(Is<GivenValue> auto& m) { return std::tie(m.value); }

// All ranks run the same program, so what is trivial travels as it lies in memory.
template <typename T>
void write_value(ByteWriter& out, const T& value) {
  if constexpr (requires { fields(value); }) {
    std::apply([&](const auto&... each) { (write_value(out, each), ...); }, fields(value));
  } else if constexpr (requires { value.has_value(); }) {
    out.number(value.has_value());
    write_value(out, value.value_or(typename T::value_type{}));
  } else if constexpr (std::is_trivially_copyable_v<T>) {
    out.number(value);
  } else if constexpr (std::same_as<T, std::string>) {
    out.text(value);
  } else if constexpr (std::same_as<T, GradientSet>) {
    value.write(out);
  } else if constexpr (std::same_as<T, std::vector<WorkerReport>>) {
    out.number<std::uint64_t>(value.size());
    for (const WorkerReport& worker : value) write_value(out, worker);
  } else {
    out.array(std::span(value));
  }
}

template <typename T>
void read_value(ByteReader& in, T& value) {
  if constexpr (requires { fields(value); }) {
    std::apply([&](auto&... each) { (read_value(in, each), ...); }, fields(value));
  } else if constexpr (requires { value.has_value(); }) {
    bool given = false;
    typename T::value_type content{};
    read_value(in, given);
    read_value(in, content);
    if (given) value = std::move(content);
  } else if constexpr (std::same_as<T, bool>) {  // not every byte is one
    const auto flag = in.number<std::uint8_t>();
    if (flag > 1) in.fail();
    value = flag == 1;
  } else if constexpr (std::is_trivially_copyable_v<T>) {
    value = in.number<T>();
    if constexpr (std::same_as<T, StopReason>)
      if (static_cast<std::size_t>(value) >= stop_reason_names.size()) in.fail();
  } else if constexpr (std::same_as<T, std::string>) {
    value = in.text();
  } else if constexpr (std::same_as<T, GradientSet>) {
    value = GradientSet::read(in);
  } else if constexpr (std::same_as<T, std::vector<WorkerReport>>) {
    for (auto count = in.number<std::uint64_t>(); count > 0 && in.ok(); --count)
      read_value(in, value.emplace_back());
  } else {
    value = in.array<typename T::value_type>();
  }
}

template <std::size_t Kind = 0>
std::optional<Message> read_message(ByteReader& in, std::size_t kind) {
  if constexpr (Kind < std::variant_size_v<Message>) {
    if (kind != Kind) return read_message<Kind + 1>(in, kind);
    std::variant_alternative_t<Kind, Message> message;
    read_value(in, message);
    if (in.ended_well()) return message;
  }
  return std::nullopt;
}

}  // namespace

Bytes encode(const Message& message) {
  ByteWriter out;
  out.number(static_cast<std::uint8_t>(message.index()));
  std::visit([&](const auto& content) { write_value(out, content); }, message);
  return out.take();
}

std::optional<Message> decode(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  const auto kind = in.number<std::uint8_t>();
  return read_message(in, kind);
}

}  // namespace dasgd::cluster
