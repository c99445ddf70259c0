#include "dasgd/transport/relay.hpp"

#include <charconv>

#include "dasgd/base/nearest_word.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

const std::vector<std::string> mode_names{"arrival", "apply", "none"};
const std::vector<std::string> relay_names{"arrival", "apply", "none", "mesh", "tree", "auto"};

std::uint32_t parse_children(const std::string& text) {
  std::uint32_t children = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), children);
  if (error != std::errc() || end != text.data() + text.size() || children < 1)
    throw InputError("relay tree:" + text + ": the number of children is at least 1");
  return children;
}

}  // namespace

RelayChoice parse_relay(const std::string& text) {
  for (const RelayMode mode : {RelayMode::arrival, RelayMode::apply, RelayMode::none})
    if (text == to_string(mode)) return mode;
  if (text == "mesh") return RelayChoice::mesh();
  if (text == "tree") return RelayChoice::tree();
  if (text.starts_with("tree:")) return RelayChoice::tree(parse_children(text.substr(5)));
  if (text == "auto") return RelayChoice::automatic();
  throw InputError("unknown relay \"" + text + "\"" + suggestion(text, relay_names));
}

std::string to_string(RelayMode mode) { return mode_names[static_cast<std::size_t>(mode)]; }

std::string to_string(const RelayChoice& choice) {
  switch (choice.kind) {
    case RelayChoice::Kind::mesh:
      return "mesh";
    case RelayChoice::Kind::tree:
      return "tree:" + std::to_string(choice.children);
    case RelayChoice::Kind::automatic:
      return "auto";
    case RelayChoice::Kind::by_mode:
      break;
  }
  return to_string(choice.mode);
}

RelayMode default_relay(const Graph& graph) {
  return graph.is_full() ? RelayMode::none : RelayMode::arrival;
}

void require_delivery(const Graph& graph, RelayMode mode) {
  if (mode != RelayMode::none || graph.is_full()) return;
  for (std::size_t a = 0; a < graph.workers(); ++a)
    for (std::size_t b = 0; b < graph.workers(); ++b)
      if (a != b && !graph.connected(worker_id(a), worker_id(b)))
        throw InputError("relay none needs the full graph: worker " + std::to_string(b) +
                         " would not receive the gradients of worker " + std::to_string(a) +
                         "; use relay arrival or apply");
}

Relay::Relay(WorkerId self, const Graph& graph, RelayMode mode, std::size_t origins,
             bool with_announcements)
    : self_(self),
      graph_(graph),
      mode_(mode),
      seen_(origins),
      origins_(origins),
      announced_(with_announcements ? origins : 0) {}

bool Relay::is_first_copy(const Frame& frame) {
  const auto* announcement = std::get_if<Announcement>(&frame);
  if (!announcement) return is_first_copy(std::get<Parcel>(frame));
  auto& known = announced_[index(announcement->origin)];
  const bool first = !known;
  known = announcement->computed;
  announcements_ += first ? 1 : 0;
  copies_dropped_ += first ? 0 : 1;
  return first;
}

bool Relay::is_first_copy(const Parcel& parcel) {
  return parcel.bundle ? is_first_copy(parcel.bundle->names())
                       : is_first_copy(parcel.gradient->name);
}

bool Relay::is_first_copy(GradientName name) {
  const bool first = seen_.insert(name);
  copies_dropped_ += first ? 0 : 1;
  return first;
}

bool Relay::is_first_copy(const GradientSet& names) {
  if (!names.is_disjoint_from(seen_)) {
    copies_dropped_ += 1;
    return false;
  }
  seen_.unite(names);
  return true;
}

bool Relay::passes_on_arrival(const Frame& frame) const {
  if (mode_ != RelayMode::apply) return mode_ == RelayMode::arrival;
  const auto* parcel = std::get_if<Parcel>(&frame);
  return !parcel || parcel->bundle;
}

std::optional<std::uint64_t> Relay::announced_total() const {
  if (announcements_ < origins_) return std::nullopt;
  std::uint64_t total = 0;
  for (const auto& count : announced_) total += *count;
  return total;
}

}  // namespace dasgd
