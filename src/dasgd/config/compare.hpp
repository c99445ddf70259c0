// What a comparison was asked for, beyond what a simulation is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dasgd::config {

struct CompareSettings {
  std::vector<std::string> rivals;           ///< "NAME:P=X", or "all"; empty: the usual ones
  std::vector<std::string> rival_libraries;  ///< shared objects with rivals of one's own
  std::vector<std::string> worlds;           ///< names or TOML files; empty: equal
  std::vector<std::string> lr;               ///< "X" for all, "RIVAL=X" for one
  std::string engine = "sim";                ///< or threads, mpi
  std::optional<std::size_t> seeds, tune;
  bool preempt = false, quick = false;
  std::string paper;                              ///< a directory for the files of a paper
  std::optional<double> paper_width, paper_font;  ///< of a panel, in mm; of its letters, in points
  std::string command;                            ///< as it was typed, for readers of the results
};

}  // namespace dasgd::config
