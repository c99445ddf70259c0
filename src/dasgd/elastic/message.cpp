#include "dasgd/elastic/message.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dasgd/base/utf8.hpp"
#include "dasgd/core/fixed_point.hpp"

namespace dasgd::elastic {
namespace {

/// Writes the fields of a message.
class Writer {
 public:
  Writer(Introductions& link, const Roster& roster) : link_(link) { to_.array(link.news(roster)); }

  template <typename T>
  void number(const T& value) {
    to_.number(value);
  }
  void text(const std::string& text, std::size_t) { to_.text(text); }
  void name(const std::string& name) { to_.text(name); }
  void set(const GradientSet& set) { link_.write(set, to_); }
  void member(WorkerId member) { to_.number(member); }
  template <typename T, typename Each>
  void list(const std::vector<T>& values, Each&& each) {
    to_.number(static_cast<std::uint32_t>(values.size()));
    for (const T& value : values) each(value);
  }
  void require(bool) {}
  Bytes take() { return to_.take(); }

 private:
  ByteWriter to_;
  Introductions& link_;
};

/// Reads them in the same order, and refuses what no member would write.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, Introductions& link, Roster& roster)
      : in_(bytes), link_(link) {
    const std::vector<Origin> news = in_.array<Origin>();
    if (in_.ok()) link_.hear(news, roster);
  }

  template <typename T>
  void number(T& value) {
    value = in_.number<T>();
  }
  void number(bool& value) {
    const auto byte = in_.number<std::uint8_t>();
    require(byte <= 1);
    value = byte == 1;
  }
  void text(std::string& text, std::size_t longest) {
    text = in_.text();
    require(text.size() <= longest);
  }
  void name(std::string& name) {
    name = in_.text();
    require(is_member_name(name));
  }
  void set(GradientSet& set) { set = link_.read(in_); }
  void member(WorkerId& member) {
    const auto known = link_.ours(in_.number<WorkerId>());
    require(known.has_value());
    member = known.value_or(WorkerId{});
  }
  template <typename T, typename Each>
  void list(std::vector<T>& values, Each&& each) {
    for (auto left = in_.number<std::uint32_t>(); left > 0 && in_.ok(); --left)
      each(values.emplace_back());
  }
  void require(bool holds) {
    if (!holds) in_.fail();
  }
  bool ended_well() const { return in_.ended_well(); }

 private:
  ByteReader in_;
  Introductions& link_;
};

// The fields of every message, in their order; `M` is const where they are written.
template <typename Io, typename M>
void pass_format(Io& io, M& format) {
  io.number(format);
  io.require(format == NumberFormat::of_float || format == NumberFormat::of_double);
}

template <typename Io, typename M>
void pass_facts(Io& io, M& g) {
  io.member(g.name.origin);
  io.number(g.name.sequence);
  io.number(g.origin_step);
  io.number(g.eta);
  io.number(g.samples);
  io.set(g.compute_set);
  // Behind the last sequence there is none.
  io.require(g.compute_set.size() == g.origin_step && !g.compute_set.contains(g.name) &&
             std::isfinite(g.eta) && g.name.sequence < std::numeric_limits<std::uint32_t>::max());
}

template <typename Io, typename M>
void pass_record(Io& io, M& r) {
  io.number(r.origin);
  io.number(r.version);
  io.require(r.version <= highest_version);  // behind the last one there is none
  io.name(r.name);
  io.text(r.address, longest_address);
  io.number(r.joined);
  io.number(r.joined_at);
  io.number(r.t);
  io.number(r.computed);
  auto ending = static_cast<std::uint8_t>(r.ending ? 1 + static_cast<int>(*r.ending) : 0);
  io.number(ending);
  io.require(ending <= stop_reason_names.size());
  if constexpr (!std::is_const_v<M>)
    if (ending > 0) r.ending = static_cast<StopReason>(ending - 1);
  io.number(r.stopped);
  io.number(r.left);
  io.number(r.ended);
  io.number(r.early_loss);
  io.require(r.early_loss >= 0 && std::isfinite(r.early_loss));
  io.number(r.names);
  io.number(r.ready);
  io.number(r.digest);
}

template <typename Io, typename M>
void pass(Io& io, M& m) {
  using Kind = std::remove_const_t<M>;
  if constexpr (std::is_same_v<Kind, Hello>) {
    auto version = protocol_version;
    io.number(version);
    io.require(version == protocol_version);
    io.number(m.run);
    io.number(m.origin);
    io.name(m.name);
    io.text(m.address, longest_address);
    io.text(m.facts, longest_facts);
  } else if constexpr (std::is_same_v<Kind, Welcome>) {
    io.text(m.settings, longest_settings);
    io.text(m.facts, longest_facts);
    io.list(m.addresses, [&](auto& address) { io.text(address, longest_address); });
    io.number(m.before.gradients);
    io.number(m.before.samples);
    io.number(m.before.seconds);
    io.require(std::isfinite(m.before.seconds));
  } else if constexpr (std::is_same_v<Kind, Refusal>) {
    io.text(m.why, longest_facts);
  } else if constexpr (std::is_same_v<Kind, Report>) {
    io.set(m.held);
    io.number(m.can_stream);
    io.number(m.taken);
    for (auto* list : {&m.linked, &m.places, &m.edges})
      io.list(*list, [&](auto& member) { io.member(member); });
    io.list(m.records, [&](auto& record) { pass_record(io, record); });
    io.number(m.card.rate);
    io.number(m.card.is_full);
    io.number(m.card.limit);
    for (const float rate : {m.card.rate, m.card.limit})
      io.require(rate >= 0 && std::isfinite(rate));
  } else if constexpr (std::is_same_v<Kind, GradientMessage>) {
    pass_facts(io, m.facts);
    io.number(m.shift);
    pass_format(io, m.format);
    const bool is_float = m.format == NumberFormat::of_float;
    io.require(m.shift >= 0 && m.shift <= (is_float ? FixedPoint<float>::largest_shift
                                                    : FixedPoint<double>::largest_shift));
  } else if constexpr (std::is_same_v<Kind, BundleMessage>) {
    io.list(m.facts, [&](auto& facts) { pass_facts(io, facts); });
    io.require(!m.facts.empty());
    if constexpr (!std::is_const_v<M>) {
      std::vector<GradientName> names;
      for (const GradientFacts& facts : m.facts) names.push_back(facts.name);
      std::sort(names.begin(), names.end());
      io.require(std::adjacent_find(names.begin(), names.end()) == names.end());
    }
    pass_format(io, m.format);
  } else if constexpr (std::is_same_v<Kind, Snapshot>) {
    io.set(m.names);
    io.number(m.samples);
    pass_format(io, m.format);
  } else if constexpr (std::is_same_v<Kind, Goodbye>) {
    io.number(m.ended);
    io.number(m.names);
    io.number(m.digest);
  } else if constexpr (std::is_same_v<Kind, Rotation>) {
    io.number(m.number);
    io.text(m.token, longest_token);
    io.number(m.run);
  } else if constexpr (std::is_same_v<Kind, Word>) {
    io.number(m.origin);
    io.number(m.number);
    io.text(m.text, longest_word);
  } else if constexpr (std::is_same_v<Kind, ModelDigest>) {
    io.set(m.names);
    io.number(m.digest);
  } else {
    static_assert(std::is_same_v<Kind, Want>);
  }
}

template <std::size_t... I>
bool read_kind(std::size_t kind, Reader& in, Message& message, std::index_sequence<I...>) {
  return ((kind == I && (pass(in, message.emplace<I>()), true)) || ...);
}

}  // namespace

Bytes encode(const Message& message, Introductions& link, const Roster& roster) {
  Writer to(link, roster);
  to.number(static_cast<std::uint8_t>(message.index()));
  std::visit([&](const auto& m) { pass(to, m); }, message);
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
  std::uint8_t kind = 0;
  Reader(bytes, nobody, nowhere).number(kind);
  return kind < kind_names.size() ? std::optional<std::size_t>(kind) : std::nullopt;
}

std::optional<Message> decode(std::span<const std::byte> bytes, Introductions& link,
                              Roster& roster) {
  Reader in(bytes, link, roster);
  std::uint8_t kind = 0;
  in.number(kind);
  Message message;
  const auto kinds = std::make_index_sequence<std::variant_size_v<Message>>();
  if (!read_kind(kind, in, message, kinds) || !in.ended_well()) return std::nullopt;
  return message;
}

}  // namespace dasgd::elastic
