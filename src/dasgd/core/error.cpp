#include "dasgd/core/error.hpp"

#include <sstream>

namespace dasgd {
namespace {

std::string hint(double eta) {
  std::ostringstream text;
  text << "; try a step size of " << eta / 10 << " or less";
  return text.str();
}

std::string describe(WorkerId worker, GradientName gradient, std::size_t coordinate, double value,
                     double eta) {
  std::ostringstream text;
  text << "diverged: worker " << index(worker) << ", gradient (" << index(gradient.origin) << ", "
       << gradient.sequence << "), coordinate " << coordinate << " is " << value
       << " with step size " << eta << hint(eta);
  return text.str();
}

std::string describe(WorkerId worker, double first, double recent, double eta) {
  std::ostringstream text;
  text << "diverged: the loss of worker " << index(worker) << " rose from " << first << " to "
       << recent << " with step size " << eta << hint(eta);
  return text.str();
}

}  // namespace

DivergenceError::DivergenceError(WorkerId at, GradientName name, std::size_t where, double value,
                                 double eta)
    : Divergence(describe(at, name, where, value, eta)),
      worker(at),
      gradient(name),
      coordinate(where) {}

LossDivergence::LossDivergence(WorkerId at, double first, double recent, double eta)
    : Divergence(describe(at, first, recent, eta)) {}

}  // namespace dasgd
