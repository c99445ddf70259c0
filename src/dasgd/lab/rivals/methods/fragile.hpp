// Fragile SGD (Tyurin and Richtarik 2024): the method behind the decentralised lower bound.
//   pivot: sends x_k down a tree of shortest paths; each: gradients at the newest x_k, passed up
//   pivot: at B gradients of round k: x -= eta * sum; k += 1; older ones are discarded
// A gradient is passed on as soon as it is here.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "dasgd/lab/rivals/kind.hpp"
#include "dasgd/lab/rivals/vectors.hpp"

namespace dasgd::rivals {

/// The way of each worker to the pivot.
struct PivotTree {
  std::vector<std::size_t> parent;  ///< of the pivot: itself
  std::vector<std::vector<std::size_t>> children;
};
PivotTree pivot_tree(const Graph& graph, std::size_t pivot);

template <typename Real>
class TreeWorker final : public Rival<Real> {
 public:
  TreeWorker(std::size_t self, const RivalSetup<Real>& setup, const PivotTree& tree)
      : self_(self),
        parent_(tree.parent[self]),
        children_(tree.children[self]),
        eta_(setup.eta),
        wanted_(setup.count("B")),
        x_(setup.start_of(self)) {}

  void start(Port<Real>& port) override { port.compute(x_); }
  void computed(Port<Real>& port, std::span<const Real> gradient, double) override {
    begun_ = false;
    pass_up(port, {share(gradient), round_});
    if (!begun_) port.compute(x_);
  }
  void received(Port<Real>& port, const RivalMessage<Real>& letter) override {
    if (letter.from != parent_ || is_pivot()) return pass_up(port, letter);
    x_ = *letter.numbers;
    round_ = letter.version;
    pass_down(port);
    port.cancel();
    port.compute(x_);
  }
  std::span<const Real> model() const override {
    return is_pivot() ? std::span<const Real>(x_) : std::span<const Real>();
  }
  std::size_t kept() const override { return size_of(x_, sum_); }

 private:
  bool is_pivot() const { return parent_ == self_; }
  void pass_up(Port<Real>& port, const RivalMessage<Real>& letter) {
    if (letter.version != round_) return port.discard(1);
    if (!is_pivot()) return port.send(parent_, letter);
    if (count_++ == 0)
      sum_ = *letter.numbers;
    else
      add<Real>(sum_, 1, *letter.numbers);
    port.charge(1);
    if (count_ < wanted_) return;
    count_ = 0;
    port.updating(x_, sum_);
    subtract<Real>(x_, eta_, sum_);
    port.charge(1);
    ++round_;
    pass_down(port);
    port.cancel();
    port.compute(x_);
    begun_ = true;
  }
  void pass_down(Port<Real>& port) {
    const Shared<Real> model = share<Real>(x_);
    for (const std::size_t child : children_) port.send(child, {model, round_});
  }

  const std::size_t self_, parent_;
  const std::vector<std::size_t> children_;
  const double eta_;
  const std::size_t wanted_;
  std::vector<Real> x_, sum_;
  std::size_t count_ = 0;
  std::uint64_t round_ = 0;
  bool begun_ = false;  // its next gradient, while it dealt with the last one
};

template <typename Real>
Participants<Real> make_fragile(const RivalSetup<Real>& setup) {
  const PivotTree tree =
      pivot_tree(setup.graph, std::min(setup.count("pivot"), setup.workers() - 1));
  return one_per_node<TreeWorker>(setup, tree);
}

}  // namespace dasgd::rivals
