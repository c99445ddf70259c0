// One link to another member, as the protocol sees it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "dasgd/elastic/message.hpp"
#include "dasgd/elastic/protocol.hpp"

namespace dasgd::elastic {

struct Protocol::Link {
  LinkId id{};
  bool dialed = false;
  std::string remote;     ///< "host:port" of the other end; empty: not known
  bool open = false;      ///< both sides have said hello
  Nanoseconds heard = 0;  ///< when something last came on it
  WorkerId member{};      ///< once open
  Introductions names;

  GradientSet reported;  ///< what the other end said that it holds
  GradientSet promised;  ///< the names of a model that is on its way
  GradientSet offered;   ///< known there or sent
  bool heard_report = false;
  std::uint32_t times_behind = 0;
  bool behind = false;                ///< too much waits: it gets a model instead, when it asks
  std::uint64_t quick = 0, slow = 0;  ///< places in the log: what is sent at once, what later
  bool was_full = false;              ///< what waits for it leaves as one
  bool wants_model = false;
  bool served = false;  ///< a model was sent on it
  bool asked = false;   ///< for a model, which has not come yet
  bool peer_can_stream = true;
  std::uint32_t reports_without_stream = 0;
  std::vector<WorkerId> linked;  ///< to whom the other end has links
  GradientSet lacked;            ///< what they had and we did not, at some time
  Nanoseconds lacked_since = 0;
  std::uint64_t sent = 0, acked = 0;       ///< messages; of them, those that have arrived
  std::uint64_t taken = 0, acks_sent = 0;  ///< of the other end's; and in our last report
  Nanoseconds reported_at = 0;             ///< our last report
  std::vector<std::uint64_t> versions;     ///< of the records that were passed on
  std::vector<std::uint64_t> words;        ///< the numbers of those
  bool goodbye = false;
  std::uint64_t bytes = 0, bytes_before = 0;  ///< sent, and at the last rate
  double bytes_per_second = 0;

  // A frame whose body is being received.
  std::optional<Message> incoming;
  std::shared_ptr<Gradient> gradient;
  std::shared_ptr<Bundle> bundle;
  Bytes packed;  // its numbers, where they come in few bits
  std::shared_ptr<Bytes> sums;
};

}  // namespace dasgd::elastic
