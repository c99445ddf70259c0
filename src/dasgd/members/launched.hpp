// What `dasgd launch` passes to a process that becomes a member of an elastic run: its environment.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "dasgd/members/member.hpp"

namespace dasgd::members {

/// A member that somebody else has started.
struct Launched {
  std::filesystem::path directory;  ///< of its own; beside it those of the others of this launch
  std::filesystem::path token_file;
  std::string listen;
  bool begins = false;         ///< the run
  std::string join_at = {};    ///< else: addresses of a run elsewhere, separated by commas
  std::string name = {};       ///< of the member; empty: that of its directory
  std::string advertise = {};  ///< see MemberOptions
  std::optional<Nanoseconds> gone = {};  ///< Patience::gone; nothing: the default

  /// For the processes that this one starts.
  void put_into_environment() const;
  /// Nothing when nobody has launched this process as a member.
  static std::optional<Launched> from_environment();
};

/// The addresses that members of this launch have written, of the living and the dead.
std::vector<std::string> launched_addresses(const std::filesystem::path& directory);

/// Says that the model is here, from when on others can join this member; and whether one in that
/// directory has said so.
void announce_model(const Launched& launched);
bool model_is_here(const std::filesystem::path& directory);

/// How this process takes part. One that joins the others of its launch waits until somebody has
/// begun the run. Throws InputError, and Stopped when the stop came first.
struct Stopped {};
MemberOptions member_options(const Launched& launched, const std::stop_token& stop);

}  // namespace dasgd::members
