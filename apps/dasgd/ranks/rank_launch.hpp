// How the processes that a launcher started become the ranks of one MPI job, or say why not.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "ranks/ranks.hpp"

namespace dasgd::app {

/// Of the processes that a launcher started, if one did: the one that talks.
bool is_first_process();

/// Whether there are other processes with which this one would be an MPI job.
bool would_be_ranks();

/// Before MPI is touched: false for a process that must exit without a message, because rank 0
/// prints it what is wrong. Rank 0 throws InputError then.
bool may_become_ranks();

/// The same once MPI has started: it may not know the others.
bool is_known_to_mpi(const Ranks& ranks);

/// Throws InputError unless MPI sees all processes that were started.
void require_all_processes(const Ranks& ranks);

/// What the action throws, as text; empty if it does not. Until all ranks have agreed, none may
/// leave on its own: the others would wait for it.
template <typename Action>
std::string mistake_of(Action&& action) {
  try {
    action();
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace dasgd::app
