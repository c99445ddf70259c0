// Why a run ended.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace dasgd {

enum class StopReason {
  budget,            ///< gradients or epochs were used up
  samples,           ///< every source of samples had ended
  target,            ///< every worker had reached the error or the loss that was asked for
  target_accuracy,   ///< an evaluation found it
  target_eval_loss,  ///< likewise
  patience,          ///< so many evaluations brought nothing better
  max_time,
  callback,     ///< one said so
  asked,        ///< somebody asked all workers to end
  left,         ///< of an elastic run: this member left, and others may go on
  interrupted,  ///< somebody outside did: a signal, a button, a stop token
  diverged,     ///< the loss diverged, or an update could not be made
  failed,       ///< something threw
};

inline constexpr std::array<const char*, 13> stop_reason_names{
    "budget",   "samples", "target", "target-accuracy", "target-eval-loss", "patience", "max-time",
    "callback", "asked",   "left",   "interrupted",     "diverged",         "failed"};

/// As summary.json has it.
inline std::string to_string(StopReason reason) {
  return stop_reason_names[static_cast<std::size_t>(reason)];
}

}  // namespace dasgd
