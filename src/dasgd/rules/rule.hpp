// The update rules by name: stages in a row, then a scheduled step size.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/core/update_rule.hpp"
#include "dasgd/rules/schedule.hpp"
#include "dasgd/rules/stages.hpp"

namespace dasgd {

/// Which rule a run uses; the default is the paper's: the gradient itself with a fixed eta.
struct RuleOptions {
  enum class Kind { sgd, momentum, nesterov, adam };
  Kind kind = Kind::sgd;
  std::optional<double> momentum;      ///< mu of momentum and nesterov; 0.9
  std::optional<double> beta1, beta2;  ///< of adam; 0.9 and 0.999
  double epsilon = 1e-8;               ///< of adam
  double weight_decay = 0;             ///< lambda: L2 for sgd to nesterov, decoupled for adam
  std::optional<double> clip;          ///< the largest norm of a gradient
  Schedule schedule;

  /// The paper's rule: the gradient itself, with one fixed eta.
  bool is_plain() const {
    return kind == Kind::sgd && weight_decay == 0 && !clip && schedule.is_constant();
  }
  bool uses_momentum() const { return kind == Kind::momentum || kind == Kind::nesterov; }
  bool uses_betas() const { return kind == Kind::adam; }
  double mu() const { return momentum.value_or(0.9); }
  double decay_of_mean() const { return beta1.value_or(0.9); }
  double decay_of_square() const { return beta2.value_or(0.999); }
};

/// "sgd", "momentum", "nesterov" or "adam". Throws InputError for anything else.
RuleOptions::Kind parse_rule(const std::string& text);
std::string to_string(RuleOptions::Kind kind);

/// Throws InputError for what cannot be: a momentum of 1, a momentum that the rule does not use,
/// ...
void validate(const RuleOptions& options);

/// Where a rule stands in its run.
struct RuleClock {
  std::uint64_t before = 0;       ///< applications before t = 0: those of the legs before a resume
  std::optional<double> planned;  ///< gradients of all workers in the whole run, where it is known
};

/// Clip, L2 decay, direction, decoupled decay; then eta times the schedule.
template <typename Real>
class StagedRule final : public UpdateRule<Real> {
 public:
  StagedRule(const RuleOptions& options, double eta, const RuleClock& clock);

  double prepare(std::uint64_t t, Replica<Real>& replica, std::span<Real> gradient) override;
  std::optional<Recipe> recipe() const override;
  double step_size(std::uint64_t t) override;
  DirectionMemory<Real> memory() const override;
  void remember(DirectionMemory<Real> memory) override;
  Bytes state() const override;
  bool restore(std::span<const std::byte> state) override;

 private:
  using Stages = std::vector<std::unique_ptr<Stage<Real>>>;
  static Stages make_stages(const RuleOptions& options);
  static std::string kinds(const Stages& stages);

  const RuleOptions options_;
  const double eta_;
  const RuleClock clock_;
  Schedule schedule_;
  Stages stages_;
};

extern template class StagedRule<float>;
extern template class StagedRule<double>;

}  // namespace dasgd
