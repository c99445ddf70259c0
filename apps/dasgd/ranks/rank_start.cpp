#include "ranks/rank_start.hpp"

#include <span>

#include "dasgd/base/bytes.hpp"

namespace dasgd::app {

std::string to_bytes(double eta, const Schedule& schedule,
                     const std::optional<Checkpoint>& checkpoint) {
  ByteWriter out;
  out.number(eta);
  out.text(to_string(schedule));
  out.text(checkpoint ? encode(*checkpoint) : "");
  return {reinterpret_cast<const char*>(out.bytes().data()), out.bytes().size()};
}

RankStart rank_start(const std::string& bytes) {
  ByteReader in(std::as_bytes(std::span(bytes)));
  RankStart start{.eta = in.number<double>()};
  start.schedule = in.text();
  const std::string checkpoint = in.text();
  if (!in.ended_well()) throw CorruptCheckpoint("the data from rank 0 is truncated");
  if (!checkpoint.empty()) start.checkpoint = decode(std::as_bytes(std::span(checkpoint)));
  return start;
}

}  // namespace dasgd::app
