#include "dasgd/cluster/messages.hpp"

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace dasgd::cluster {
namespace {

// All ranks run the same program, so these may travel as they lie in memory.
static_assert(std::is_trivially_copyable_v<WorkerView>);
static_assert(std::is_trivially_copyable_v<TraceLine>);
static_assert(std::is_trivially_copyable_v<StalenessStatistics>);

// Not every byte is a bool, and not every number a reason.
bool read_flag(ByteReader& in) {
  const auto flag = in.number<std::uint8_t>();
  if (flag > 1) in.fail();
  return flag == 1;
}
template <typename T>
void write_optional(ByteWriter& out, const std::optional<T>& value) {
  out.number(value.has_value());
  out.number(value.value_or(T{}));
}
template <typename T>
std::optional<T> read_optional(ByteReader& in) {
  const bool given = read_flag(in);
  const T value = in.number<T>();
  return given ? std::optional(value) : std::nullopt;
}
void require_known(ByteReader& in, StopReason reason) {
  if (static_cast<std::size_t>(reason) >= stop_reason_names.size()) in.fail();
}

void write(ByteWriter& out, const Stop& stop) { out.number(stop.reason); }
void write(ByteWriter&, const TargetReached&) {}
void write(ByteWriter& out, const Views& views) { out.array(std::span(views.workers)); }
void write(ByteWriter& out, const TracePart& piece) {
  out.number(piece.worker);
  out.number(piece.up_to);
  out.array(std::span(piece.lines));
  out.number(piece.left_out);
}

void write(ByteWriter& out, const WorkerReport& report) {
  out.number(report.computed);
  out.number(report.duplicated);
  report.applied.write(out);
  out.text(report.digest);
  out.number(report.S);
  out.number(report.S_hat);
  write_optional(out, report.W);
  out.number(report.noncausal_applications);
  out.number(report.copies_dropped);
  out.number(report.folded);
  out.number(report.sent);
  out.number(report.waited);
  out.number(report.samples);
  out.number(report.iterations);
  out.number(report.time);
  write_optional(out, report.squared_gradients);
  out.number(report.halvings);
  write_optional(out, report.recent_loss);
  write_optional(out, report.look_ahead);
  write_optional(out, report.residual);
}

void write(ByteWriter& out, const RankReport& report) {
  out.number<std::uint64_t>(report.workers.size());
  for (const WorkerReport& worker : report.workers) write(out, worker);
  write_optional(out, report.stop_reason);
  out.number(report.failure.has_value());
  out.text(report.failure.value_or(""));
}

void write(ByteWriter&, const StateRequest&) {}
void write(ByteWriter& out, const StatePart& piece) {
  out.number(piece.worker);
  out.array(std::span(piece.bytes));
  out.number(piece.last);
}
void write(ByteWriter& out, const EarlyLoss& loss) { out.number(loss.size); }
void write(ByteWriter& out, const TraceAck& taken) { out.number(taken.lines); }
void write(ByteWriter& out, const GivenValue& given) {
  out.number(given.value.has_value());
  out.text(given.value.value_or(""));
}

void read(ByteReader& in, Stop& stop) {
  stop.reason = in.number<StopReason>();
  require_known(in, stop.reason);
}
void read(ByteReader&, TargetReached&) {}
void read(ByteReader& in, Views& views) { views.workers = in.array<WorkerView>(); }
void read(ByteReader& in, TracePart& piece) {
  piece.worker = in.number<WorkerId>();
  piece.up_to = in.number<Nanoseconds>();
  piece.lines = in.array<TraceLine>();
  piece.left_out = in.number<std::uint64_t>();
}

void read(ByteReader& in, WorkerReport& report) {
  report.computed = in.number<std::uint32_t>();
  report.duplicated = in.number<std::uint64_t>();
  report.applied = GradientSet::read(in);
  report.digest = in.text();
  report.S = in.number<StalenessStatistics>();
  report.S_hat = in.number<StalenessStatistics>();
  report.W = read_optional<std::uint64_t>(in);
  report.noncausal_applications = in.number<std::uint64_t>();
  report.copies_dropped = in.number<std::uint64_t>();
  report.folded = in.number<std::uint64_t>();
  report.sent = in.number<Traffic>();
  report.waited = in.number<Nanoseconds>();
  report.samples = in.number<std::uint64_t>();
  report.iterations = in.number<std::uint64_t>();
  report.time = in.number<Nanoseconds>();
  report.squared_gradients = read_optional<double>(in);
  report.halvings = in.number<std::uint32_t>();
  report.recent_loss = read_optional<double>(in);
  report.look_ahead = read_optional<LookAheadFigures>(in);
  report.residual = read_optional<double>(in);
}

void read(ByteReader& in, RankReport& report) {
  for (auto count = in.number<std::uint64_t>(); count > 0 && in.ok(); --count)
    read(in, report.workers.emplace_back());
  report.stop_reason = read_optional<StopReason>(in);
  require_known(in, report.stop_reason.value_or(StopReason::budget));
  const bool failed = read_flag(in);
  auto failure = in.text();
  if (failed) report.failure = std::move(failure);
}

void read(ByteReader&, StateRequest&) {}
void read(ByteReader& in, StatePart& piece) {
  piece.worker = in.number<WorkerId>();
  piece.bytes = in.array<std::byte>();
  piece.last = read_flag(in);
}
void read(ByteReader& in, EarlyLoss& loss) { loss.size = in.number<double>(); }
void read(ByteReader& in, TraceAck& taken) { taken.lines = in.number<std::uint64_t>(); }
void read(ByteReader& in, GivenValue& given) {
  const bool is_one = read_flag(in);
  auto value = in.text();
  if (is_one) given.value = std::move(value);
}

template <typename Kind>
std::optional<Message> read_whole(ByteReader& in) {
  Kind message;
  read(in, message);
  if (!in.ended_well()) return std::nullopt;
  return message;
}

}  // namespace

Bytes encode(const Message& message) {
  ByteWriter out;
  out.number(static_cast<std::uint8_t>(message.index()));
  std::visit([&](const auto& content) { write(out, content); }, message);
  return out.take();
}

std::optional<Message> decode(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  switch (in.number<std::uint8_t>()) {
    case 0:
      return read_whole<Stop>(in);
    case 1:
      return read_whole<TargetReached>(in);
    case 2:
      return read_whole<Views>(in);
    case 3:
      return read_whole<TracePart>(in);
    case 4:
      return read_whole<RankReport>(in);
    case 5:
      return read_whole<StateRequest>(in);
    case 6:
      return read_whole<StatePart>(in);
    case 7:
      return read_whole<EarlyLoss>(in);
    case 8:
      return read_whole<TraceAck>(in);
    case 9:
      return read_whole<GivenValue>(in);
    default:
      return std::nullopt;
  }
}

}  // namespace dasgd::cluster
