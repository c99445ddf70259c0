// A run whose last rank cannot begin.
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "dasgd/cluster/train_ranks.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/transport/mpi/communicator.hpp"

namespace {

class WithoutDevice final : public dasgd::Objective<float> {
 public:
  explicit WithoutDevice(bool fails) : fails_(fails) {}
  std::size_t dimension() const override { return 1; }
  std::vector<float> start() const override { return {1}; }
  double gradient(std::span<const float> x, dasgd::Rows, std::span<float> g) const override {
    g[0] = x[0];
    return x[0] * x[0] / 2;
  }
  dasgd::DeviceBuffers device_of(std::span<const dasgd::WorkerId>) const override {
    if (fails_) throw std::runtime_error("no device is left");
    return {};
  }

 private:
  const bool fails_;
};

}  // namespace

int main() {
  dasgd::mpi::Session session;
  dasgd::mpi::Communicator& ranks = session.world();
  const WithoutDevice objective(ranks.rank() == ranks.size() - 1);
  dasgd::RankOptions options;
  options.fatal = [&](const std::string& why) {
    std::fprintf(stderr, "rank %d: %s\n", ranks.rank(), why.c_str());
  };
  dasgd::train_ranks<float>(
      ranks, objective,
      {.workers = static_cast<std::size_t>(ranks.size()), .eta = 0.1, .gradients = {10}}, options);
}
