#include "dasgd/elastic/message.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dasgd/base/utf8.hpp"
#include "dasgd/core/fixed_point.hpp"

namespace dasgd::elastic {
namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>  // Clang 14 does not deduce aggregates by itself
Overloaded(Visitors...)->Overloaded<Visitors...>;

void put(ByteWriter& to, Introductions& link, const GradientFacts& g) {
  to.number(g.name.origin);
  to.number(g.name.sequence);
  to.number(g.origin_step);
  to.number(g.eta);
  to.number(g.samples);
  link.write(g.compute_set, to);
}

void put(ByteWriter& to, const Record& r) {
  to.number(r.origin);
  to.number(r.version);
  to.text(r.name);
  to.text(r.address);
  to.number(r.joined);
  to.number(r.joined_at);
  to.number(r.t);
  to.number(r.computed);
  to.number<std::uint8_t>(r.ending ? 1 + static_cast<std::uint8_t>(*r.ending) : 0);
  to.number(r.stopped);
  to.number(r.left);
  to.number(r.ended);
  to.number(r.early_loss);
  to.number(r.names);
  to.number(r.ready);
  to.number(r.digest);
}

// Reads and refuses what no member would write.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, Introductions& link, Roster& roster)
      : in_(bytes), link_(link) {
    const std::vector<Origin> news = in_.array<Origin>();
    if (in_.ok()) link_.hear(news, roster);
  }

  template <typename T>
  T number() {
    return in_.number<T>();
  }
  bool yes() {
    const auto value = in_.number<std::uint8_t>();
    if (value > 1) in_.fail();
    return value == 1;
  }
  std::string text(std::size_t longest) {
    std::string text = in_.text();
    if (text.size() > longest) in_.fail();
    return text;
  }
  std::string name() {
    std::string name = in_.text();
    if (!is_member_name(name)) in_.fail();
    return name;
  }
  NumberFormat format() {
    const auto format = in_.number<NumberFormat>();
    if (format != NumberFormat::of_float && format != NumberFormat::of_double) in_.fail();
    return format;
  }
  GradientSet set() { return link_.read(in_); }
  WorkerId member() {
    const auto member = link_.ours(in_.number<WorkerId>());
    if (!member) in_.fail();
    return member.value_or(WorkerId{});
  }
  GradientFacts facts() {
    GradientFacts g;
    g.name.origin = member();
    g.name.sequence = in_.number<std::uint32_t>();
    g.origin_step = in_.number<std::uint64_t>();
    g.eta = in_.number<double>();
    g.samples = in_.number<std::uint32_t>();
    g.compute_set = set();
    if (g.compute_set.size() != g.origin_step || g.compute_set.contains(g.name) ||
        !std::isfinite(g.eta) || g.name.sequence == std::numeric_limits<std::uint32_t>::max())
      in_.fail();  // the last: behind the last sequence there is none
    return g;
  }
  Record record() {
    Record r;
    r.origin = number<Origin>();
    r.version = number<std::uint64_t>();
    if (r.version > highest_version) in_.fail();  // behind the last one there is none
    r.name = name();
    r.address = text(longest_address);
    r.joined = yes();
    r.joined_at = number<std::uint64_t>();
    r.t = number<std::uint64_t>();
    r.computed = number<std::uint64_t>();
    const auto ending = number<std::uint8_t>();
    if (ending > stop_reason_names.size()) in_.fail();
    if (ending > 0) r.ending = static_cast<StopReason>(ending - 1);
    r.stopped = yes();
    r.left = yes();
    r.ended = yes();
    r.early_loss = number<double>();
    if (!(r.early_loss >= 0) || !std::isfinite(r.early_loss)) in_.fail();
    r.names = number<Hash>();
    r.ready = number<Hash>();
    r.digest = number<Hash>();
    return r;
  }
  bool ok() const { return in_.ok(); }
  void fail() { in_.fail(); }
  bool ended_well() const { return in_.ended_well(); }

 private:
  ByteReader in_;
  Introductions& link_;
};

Hello read_hello(Reader& in) {
  Hello hello;
  if (in.number<std::uint16_t>() != protocol_version) in.fail();
  hello.run = in.number<RunId>();
  hello.origin = in.number<Origin>();
  hello.name = in.name();
  hello.address = in.text(longest_address);
  hello.facts = in.text(longest_facts);
  return hello;
}

Welcome read_welcome(Reader& in) {
  Welcome welcome;
  welcome.settings = in.text(longest_settings);
  welcome.facts = in.text(longest_facts);
  for (auto left = in.number<std::uint32_t>(); left > 0 && in.ok(); --left)
    welcome.addresses.push_back(in.text(longest_address));
  welcome.before.gradients = in.number<std::uint64_t>();
  welcome.before.samples = in.number<std::uint64_t>();
  welcome.before.seconds = in.number<double>();
  if (!std::isfinite(welcome.before.seconds)) in.fail();
  return welcome;
}

Report read_report(Reader& in) {
  Report report;
  report.held = in.set();
  report.can_stream = in.yes();
  report.taken = in.number<std::uint64_t>();
  for (auto left = in.number<std::uint32_t>(); left > 0 && in.ok(); --left)
    report.linked.push_back(in.member());
  for (auto left = in.number<std::uint32_t>(); left > 0 && in.ok(); --left)
    report.records.push_back(in.record());
  return report;
}

GradientMessage read_gradient(Reader& in) {
  GradientMessage message;
  message.facts = in.facts();
  message.shift = in.number<std::int32_t>();
  message.format = in.format();
  const int largest = message.format == NumberFormat::of_float ? FixedPoint<float>::largest_shift
                                                               : FixedPoint<double>::largest_shift;
  if (message.shift < 0 || message.shift > largest) in.fail();
  return message;
}

BundleMessage read_bundle(Reader& in) {
  BundleMessage message;
  for (auto left = in.number<std::uint32_t>(); left > 0 && in.ok(); --left) {
    message.facts.push_back(in.facts());
    const GradientName name = message.facts.back().name, first = message.facts.front().name;
    if (name != GradientName{first.origin,
                             first.sequence + static_cast<std::uint32_t>(message.facts.size() - 1)})
      in.fail();
  }
  if (message.facts.size() < 2) in.fail();
  message.format = in.format();
  return message;
}

Snapshot read_snapshot(Reader& in) {
  Snapshot snapshot;
  snapshot.names = in.set();
  snapshot.samples = in.number<std::uint64_t>();
  snapshot.format = in.format();
  return snapshot;
}

}  // namespace

Bytes encode(const Message& message, Introductions& link, const Roster& roster) {
  ByteWriter to;
  to.array(link.news(roster));
  to.number(static_cast<std::uint8_t>(message.index()));
  std::visit(Overloaded{
                 [&](const Hello& m) {
                   to.number(protocol_version);
                   to.number(m.run);
                   to.number(m.origin);
                   to.text(m.name);
                   to.text(m.address);
                   to.text(m.facts);
                 },
                 [&](const Welcome& m) {
                   to.text(m.settings);
                   to.text(m.facts);
                   to.number(static_cast<std::uint32_t>(m.addresses.size()));
                   for (const std::string& address : m.addresses) to.text(address);
                   to.number(m.before.gradients);
                   to.number(m.before.samples);
                   to.number(m.before.seconds);
                 },
                 [&](const Refusal& m) { to.text(m.why); },
                 [&](const Report& m) {
                   link.write(m.held, to);
                   to.number(m.can_stream);
                   to.number(m.taken);
                   to.number(static_cast<std::uint32_t>(m.linked.size()));
                   for (const WorkerId member : m.linked) to.number(member);
                   to.number(static_cast<std::uint32_t>(m.records.size()));
                   for (const Record& record : m.records) put(to, record);
                 },
                 [&](const GradientMessage& m) {
                   put(to, link, m.facts);
                   to.number(static_cast<std::int32_t>(m.shift));
                   to.number(m.format);
                 },
                 [&](const BundleMessage& m) {
                   to.number(static_cast<std::uint32_t>(m.facts.size()));
                   for (const GradientFacts& facts : m.facts) put(to, link, facts);
                   to.number(m.format);
                 },
                 [](const Want&) {},
                 [&](const Snapshot& m) {
                   link.write(m.names, to);
                   to.number(m.samples);
                   to.number(m.format);
                 },
                 [&](const Goodbye& m) {
                   to.number(m.ended);
                   to.number(m.names);
                   to.number(m.digest);
                 },
                 [&](const Rotation& m) {
                   to.number(m.number);
                   to.text(m.token);
                   to.number(m.run);
                 },
                 [&](const Word& m) {
                   to.number(m.origin);
                   to.number(m.number);
                   to.text(m.text);
                 },
             },
             message);
  return to.take();
}

bool is_member_name(std::string_view text) {
  if (text.size() > longest_name || !is_utf8(text)) return false;
  unsigned char before = 0;
  return std::none_of(text.begin(), text.end(), [&](char c) {
    const auto code = static_cast<unsigned char>(c);
    const bool is_c1 = std::exchange(before, code) == 0xC2 && code < 0xA0;  // U+0080 to U+009F
    return is_c1 || code < 0x20 || code == 0x7F;
  });
}

std::optional<std::size_t> kind_of(std::span<const std::byte> bytes) {
  Introductions nobody;
  Roster nowhere;
  const std::uint8_t kind = Reader(bytes, nobody, nowhere).number<std::uint8_t>();
  return kind < kind_names.size() ? std::optional<std::size_t>(kind) : std::nullopt;
}

std::optional<Message> decode(std::span<const std::byte> bytes, Introductions& link,
                              Roster& roster) {
  Reader in(bytes, link, roster);
  Message message;
  switch (in.number<std::uint8_t>()) {
    case 0:
      message = read_hello(in);
      break;
    case 1:
      message = read_welcome(in);
      break;
    case 2:
      message = Refusal{in.text(longest_facts)};
      break;
    case 3:
      message = read_report(in);
      break;
    case 4:
      message = read_gradient(in);
      break;
    case 5:
      message = Want{};
      break;
    case 6:
      message = read_snapshot(in);
      break;
    case 7: {
      Goodbye goodbye;
      goodbye.ended = in.yes();
      goodbye.names = in.number<Hash>();
      goodbye.digest = in.number<Hash>();
      message = goodbye;
      break;
    }
    case 8: {
      Rotation rotation;
      rotation.number = in.number<std::uint64_t>();
      rotation.token = in.text(longest_token);
      rotation.run = in.number<RunId>();
      message = rotation;
      break;
    }
    case 9: {
      Word word;
      word.origin = in.number<Origin>();
      word.number = in.number<std::uint64_t>();
      word.text = in.text(longest_word);
      message = std::move(word);
      break;
    }
    case 10:
      message = read_bundle(in);
      break;
    default:
      in.fail();
  }
  if (!in.ended_well()) return std::nullopt;
  return message;
}

}  // namespace dasgd::elastic
