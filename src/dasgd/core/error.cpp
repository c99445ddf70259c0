#include "dasgd/core/error.hpp"

#include <sstream>

namespace dasgd {
namespace {

std::string describe(WorkerId worker, GradientName gradient, std::size_t coordinate, double value,
                     double eta) {
  std::ostringstream text;
  text << "diverged: worker " << index(worker) << ", gradient (" << index(gradient.origin) << ", "
       << gradient.sequence << "), coordinate " << coordinate << " is " << value
       << " with step size " << eta << "; try a step size of " << eta / 10 << " or less";
  return text.str();
}

}  // namespace

DivergenceError::DivergenceError(WorkerId at, GradientName name, std::size_t where, double value,
                                 double eta)
    : std::runtime_error(describe(at, name, where, value, eta)),
      worker(at),
      gradient(name),
      coordinate(where) {}

}  // namespace dasgd
