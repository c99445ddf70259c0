#include <span>
#include <stdexcept>
#include <string>
#include <variant>

#include "dasgd/cluster/messages.hpp"
#include "dasgd/record/checkpoints/checkpoint.hpp"
#include "fuzz/input.hpp"
#include "ranks/rank_start.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dasgd;
  if (const auto message = cluster::decode(std::as_bytes(std::span(data, size)))) {
    if (!cluster::decode(cluster::encode(*message)))
      throw std::logic_error("what was read cannot be written and read again");
    if (const auto* const stop = std::get_if<cluster::Stop>(&*message)) to_string(stop->reason);
    if (const auto* const report = std::get_if<cluster::RankReport>(&*message))
      to_string(report->stop_reason.value_or(StopReason::budget));
  }
  fuzz::try_reading<CorruptCheckpoint>(
      [&] { app::rank_start(std::string(fuzz::text_of(data, size))); });
  return 0;
}
