// How a rank waits for messages. Needs no MPI.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "dasgd/base/nearest_word.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd::mpi {

/// How the progress thread waits for messages.
enum class Polling {
  automatic,  ///< eager where every rank on the machine has a core to spare, else patient
  eager,      ///< polls all the time while something moves: lowest latency, takes a core
  patient,    ///< sleeps between polls, up to 2 ms: leaves the cores to the workers
};

inline const std::vector<std::string> polling_names{"auto", "eager", "patient"};

/// One of these names. Throws InputError for anything else.
inline Polling parse_polling(const std::string& text) {
  const auto at = std::find(polling_names.begin(), polling_names.end(), text);
  if (at == polling_names.end())
    throw InputError("unknown polling \"" + text + "\"" + suggestion(text, polling_names));
  return static_cast<Polling>(at - polling_names.begin());
}
inline std::string to_string(Polling polling) {
  return polling_names[static_cast<std::size_t>(polling)];
}

}  // namespace dasgd::mpi
