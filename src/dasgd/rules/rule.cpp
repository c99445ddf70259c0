#include "dasgd/rules/rule.hpp"

#include <algorithm>
#include <cmath>

#include "dasgd/base/nearest_word.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

using Kind = RuleOptions::Kind;

const std::vector<std::string>& names() {
  static const std::vector<std::string> all{"sgd", "momentum", "nesterov", "adam"};
  return all;
}

Recipe::Direction direction_of(Kind kind) {
  switch (kind) {
    case Kind::sgd:
      return Recipe::Direction::gradient;
    case Kind::momentum:
      return Recipe::Direction::momentum;
    case Kind::nesterov:
      return Recipe::Direction::nesterov;
    case Kind::adam:
      break;
  }
  return Recipe::Direction::adam;
}

}  // namespace

Kind parse_rule(const std::string& text) {
  const auto at = std::find(names().begin(), names().end(), text);
  if (at == names().end())
    throw InputError("unknown rule \"" + text + "\"" + suggestion(text, names()));
  return static_cast<Kind>(at - names().begin());
}

std::string to_string(Kind kind) { return names()[static_cast<std::size_t>(kind)]; }

void validate(const RuleOptions& o) {
  const auto refuse = [](const std::string& why) { throw InputError(why); };
  const auto below_one = [](double v) { return v >= 0 && v < 1; };
  if (o.momentum && !o.uses_momentum())
    refuse("momentum is not used by rule " + to_string(o.kind) + "; choose momentum or nesterov");
  if ((o.beta1 || o.beta2) && !o.uses_betas())
    refuse("beta1 and beta2 are not used by rule " + to_string(o.kind) + "; choose adam");
  if (!below_one(o.mu())) refuse("momentum must be a number from 0 to below 1");
  if (!below_one(o.decay_of_mean()) || !below_one(o.decay_of_square()))
    refuse("beta1 and beta2 must be numbers from 0 to below 1");
  if (!(o.epsilon > 0)) refuse("epsilon must be a positive number");
  if (!(o.weight_decay >= 0) || !std::isfinite(o.weight_decay))
    refuse("weight-decay must not be negative");
  if (o.clip && !(*o.clip > 0)) refuse("clip must be a positive number");
  if (!(o.schedule.warmup >= 0) || !std::isfinite(o.schedule.warmup))
    refuse("warmup must not be negative");
}

template <typename Real>
StagedRule<Real>::StagedRule(const RuleOptions& options, double eta, const RuleClock& clock)
    : options_(options),
      eta_(eta),
      clock_(clock),
      schedule_(options.schedule),
      stages_(make_stages(options)) {
  if (!schedule_.total && clock.planned) schedule_.total = std::max(1.0, *clock.planned);
}

template <typename Real>
typename StagedRule<Real>::Stages StagedRule<Real>::make_stages(const RuleOptions& o) {
  Stages stages;
  const auto add = [&]<typename S>(S stage) { stages.push_back(std::make_unique<S>(stage)); };
  const bool decoupled = o.uses_betas();
  if (o.clip) add(ClipNorm<Real>(*o.clip));
  if (o.weight_decay > 0 && !decoupled) add(AddDecay<Real>(o.weight_decay));
  if (o.uses_momentum()) add(Momentum<Real>(o.mu(), o.kind == Kind::nesterov));
  if (o.uses_betas()) add(Adam<Real>(o.decay_of_mean(), o.decay_of_square(), o.epsilon));
  if (o.weight_decay > 0 && decoupled) add(AddDecay<Real>(o.weight_decay));
  return stages;
}

template <typename Real>
std::string StagedRule<Real>::kinds(const Stages& stages) {
  std::string text;
  for (const auto& stage : stages)
    if (!stage->kind().empty()) text += stage->kind() + " ";
  return text;
}

template <typename Real>
double StagedRule<Real>::prepare(std::uint64_t t, Replica<Real>& replica,
                                 std::span<Real> gradient) {
  for (const auto& stage : stages_) stage->transform(replica, gradient);
  return step_size(t);
}

template <typename Real>
double StagedRule<Real>::step_size(std::uint64_t t) {
  return eta_ * schedule_.factor(static_cast<double>(clock_.before + t));
}

template <typename Real>
std::optional<Recipe> StagedRule<Real>::recipe() const {
  const bool decoupled = options_.uses_betas();
  return Recipe{.clip = options_.clip,
                .decay = decoupled ? 0 : options_.weight_decay,
                .direction = direction_of(options_.kind),
                .mu = options_.mu(),
                .beta1 = options_.decay_of_mean(),
                .beta2 = options_.decay_of_square(),
                .epsilon = options_.epsilon,
                .decoupled_decay = decoupled ? options_.weight_decay : 0};
}

template <typename Real>
DirectionMemory<Real> StagedRule<Real>::memory() const {
  for (const auto& stage : stages_)
    if (auto memory = stage->memory()) return *memory;
  return {};
}

template <typename Real>
void StagedRule<Real>::remember(DirectionMemory<Real> memory) {
  for (const auto& stage : stages_)
    if (stage->memory()) return stage->remember(std::move(memory));
}

template <typename Real>
Bytes StagedRule<Real>::state() const {
  ByteWriter writer;
  writer.text(kinds(stages_));
  for (const auto& stage : stages_) stage->save(writer);
  return writer.take();
}

template <typename Real>
bool StagedRule<Real>::restore(std::span<const std::byte> state) {
  ByteReader reader(state);
  Stages restored = make_stages(options_);
  if (reader.text() != kinds(restored)) return false;
  for (const auto& stage : restored) stage->load(reader);
  if (!reader.ended_well()) return false;
  stages_ = std::move(restored);
  return true;
}

template class StagedRule<float>;
template class StagedRule<double>;

}  // namespace dasgd
