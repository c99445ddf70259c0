// One link to another member, as the protocol sees it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dasgd/elastic/incoming_frame.hpp"
#include "dasgd/elastic/link_stream.hpp"
#include "dasgd/transport/wires.hpp"

namespace dasgd::elastic {

struct MemberLink {
  LinkId id{};
  bool dialed = false;
  std::string remote;     ///< "host:port" of the other end; empty: not known
  bool open = false;      ///< both sides have said hello
  Nanoseconds since = 0;  ///< when it came to be
  Nanoseconds heard = 0;  ///< when something last came on it
  WorkerId member{};      ///< once open
  Introductions names;
  LinkStream stream;
  bool asked = false;                      ///< for a model, which has not come yet
  std::uint64_t taken = 0, acks_sent = 0;  ///< of the other end's; and in our last report
  Nanoseconds reported_at = 0;             ///< our last report
  std::vector<std::uint64_t> versions;     ///< of the records that were passed on
  std::vector<std::uint64_t> words;        ///< the numbers of those
  std::uint64_t digests = 0;               ///< how many of ours were sent, or came too early
  bool goodbye = false;
  /// Of the tree: the other end says that it is one, and so did our last report.
  bool is_edge_there = false, is_edge_here = false;
  std::uint64_t bytes = 0, bytes_before = 0;  ///< sent, and at the last rate
  double bytes_per_second = 0;
  Card card;  ///< of the other end
  IncomingFrame incoming;
};

}  // namespace dasgd::elastic
