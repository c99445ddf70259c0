#include "dasgd/run/choose_links.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace dasgd {
namespace {

constexpr double longest_wait = 2;  // in gradients

// Of the worker that has the most neighbours: how many messages it sends for each of its gradients.
double messages_per_gradient(const Graph& graph) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < graph.workers(); ++i)
    most = std::max(most, graph.neighbours(worker_id(i)).size());
  return static_cast<double>(most);
}

}  // namespace

double load(const NetworkLimits& network, const TrainOptions& options) {
  if (network.gradient_seconds <= 0) return 0;
  const auto bytes =
      static_cast<double>(message_bytes(options.message, network.format, network.dimension, 1));
  double seconds = network.link ? bytes / *network.link : 0;
  if (network.card)
    seconds = std::max(seconds, messages_per_gradient(graph_of(options)) * bytes / *network.card);
  return seconds / network.gradient_seconds;
}

bool leaves_links_open(const TrainOptions& options) {
  return (options.relay && options.relay->kind == RelayChoice::Kind::automatic) ||
         options.message == MessageFormat::automatic;
}

TrainOptions choose_links(TrainOptions options, const NetworkLimits& network) {
  const bool relay_is_open = options.relay && options.relay->kind == RelayChoice::Kind::automatic;
  const bool message_is_open = options.message == MessageFormat::automatic;
  if (!relay_is_open && !message_is_open) return options;
  if (message_is_open) options.message = MessageFormat::full;
  const bool limited = network.card || network.link;
  std::string why = limited ? "" : network.kind;
  if (relay_is_open) {
    options.relay = RelayChoice::mesh();
    const double busy = load(network, options);
    const bool few = options.workers <= most_in_mesh;
    if (!few && busy > 1) options.relay = RelayChoice::tree();
    if (limited && few) why = fmt::format("{} workers are few", options.workers);
    if (limited && !few)
      why = fmt::format("a mesh keeps a card busy for {:.2g} gradients per gradient", busy);
  }
  if (message_is_open && limited) {
    for (const MessageFormat format :
         {MessageFormat::full, MessageFormat::int8, MessageFormat::int4, MessageFormat::ternary}) {
      options.message = format;
      if (load(network, options) <= longest_wait) break;
    }
    why += fmt::format("{}{} messages keep a card busy for {:.2g} gradients per gradient",
                       why.empty() ? "" : "; ", to_string(options.message), load(network, options));
  }
  options.links_why = why;
  return options;
}

std::string reason_of_message(double waited) {
  if (waited == 0) return "links keep up with full messages";
  return fmt::format("a message brought {:.1f} gradients in the mean before the last change",
                     waited);
}

}  // namespace dasgd
