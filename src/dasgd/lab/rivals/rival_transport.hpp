// Carries messages to participants in other processes.
#pragma once

#include <exception>
#include <span>

#include "dasgd/lab/rivals/rival.hpp"

namespace dasgd {

template <typename Real>
class RivalTransport {
 public:
  virtual ~RivalTransport() = default;
  virtual bool is_here(std::size_t participant) const = 0;
  /// Any thread, like the next.
  virtual void carry(std::size_t to, RivalMessage<Real> letter) = 0;
  /// See Port::sum_over_workers; called by the only worker of this process.
  virtual bool sum_over_workers(std::span<Real> values) = 0;
  /// This process wants the run to end; when it ends for all, `RealArena::end` is called.
  virtual void ask_for_the_end() = 0;
  /// A participant here has failed, so that the others would wait for ever.
  [[noreturn]] virtual void abandon(std::exception_ptr failure) = 0;
};

}  // namespace dasgd
