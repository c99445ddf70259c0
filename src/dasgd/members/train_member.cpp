#include "dasgd/members/train_member.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <fstream>
#include <numeric>

#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/preprocessing.hpp"
#include "dasgd/elastic/adoption/adoption_line.hpp"
#include "dasgd/elastic/between_steps.hpp"
#include "dasgd/elastic/member_figures.hpp"
#include "dasgd/elastic/options_of_run.hpp"
#include "dasgd/members/ask_settings.hpp"
#include "dasgd/members/files.hpp"
#include "dasgd/record/run_summary.hpp"
#include "dasgd/run/budget.hpp"
#include "dasgd/runtime/run_process.hpp"

namespace dasgd::members {
namespace {

using Clock = std::chrono::steady_clock;

/// For one who joins a run that goes on from a checkpoint: how far it was. The model of then is in
/// the one that it gets.
template <typename Real>
Checkpoint checkpoint_before(const elastic::Before& before, std::size_t dimension) {
  Checkpoint earlier;
  if (before.gradients == 0) return earlier;
  earlier.dimension = dimension;
  earlier.sums.resize(dimension * sizeof(Sum<Real>));
  earlier.legs.emplace_back();
  earlier.workers.emplace_back();
  earlier.gradients = earlier.applications = before.gradients;
  earlier.samples = before.samples;
  earlier.seconds = before.seconds;
  return earlier;
}

/// "data: 24 samples x 2 columns, 3 classes"; what is not known is left out.
template <typename Real>
std::string data_in_words(const Objective<Real>& objective) {
  if (objective.arrivals()) return "data: a stream";
  std::string text = "data: " + counted(objective.samples(), "sample");
  const auto* const about = dynamic_cast<const Preprocessed*>(&objective);
  const Preprocessing* const raw = about ? about->preprocessing() : nullptr;
  if (!raw || raw->shape.empty()) return text;
  text += fmt::format(" x {} columns", raw->width());
  if (!raw->classes.empty()) text += fmt::format(", {} classes", raw->classes.size());
  return text;
}

/// Everything that makes an update of a gradient, and when there are enough of them.
std::string learning_in_words(const TrainOptions& options, std::size_t samples) {
  const RuleOptions& rule = options.rule;
  std::string text =
      fmt::format("lr: {}\nbatch: {}\nrule: ", options.eta, resolved_batch(options, samples));
  if (!std::holds_alternative<std::monostate>(options.make_rule)) {
    text += "its own";
  } else {
    text += to_string(rule.kind);
    if (rule.uses_momentum()) text += fmt::format(", momentum {}", rule.mu());
    if (rule.uses_betas())
      text += fmt::format(", betas {} and {}, epsilon {}", rule.decay_of_mean(),
                          rule.decay_of_square(), rule.epsilon);
    text += fmt::format(", weight decay {}, clip {}\nschedule: {}, warm-up {}", rule.weight_decay,
                        rule.clip ? fmt::format("{}", *rule.clip) : "none",
                        to_string(rule.schedule), rule.schedule.warmup);
  }
  text += "\nlook-ahead: " + (options.look_ahead ? to_string(*options.look_ahead) : "default");
  text += "\nmessages: " + to_string(options.message);
  text += "\nsampling: " + to_string(options.sampling);
  return text + fmt::format("\nbudget: {} gradients, {} epochs\non divergence: {}\n",
                            options.total_gradients ? fmt::format("{}", *options.total_gradients)
                                                    : "any number of",
                            options.epochs ? fmt::format("{}", *options.epochs) : "any number of",
                            options.on_divergence == OnDivergence::stop ? "stop" : "halve");
}

// Members of equal speed miss about two gradients of each other.
void warn_of_staleness(const TrainOptions& options, const RunSummary& summary) {
  constexpr double far_above = 10;
  const auto members = static_cast<double>(summary.elastic->members);
  if (!options.warn || summary.staleness.S_avg <= far_above * members) return;
  options.warn(
      fmt::format("S_avg is {:.0f} with {} members, where about {:.0f} is usual: links or members "
                  "did not keep up, and stale gradients cost accuracy; use larger batches "
                  "(`batch`) or longer gradients (`pace.compute`)",
                  summary.staleness.S_avg, summary.elastic->members, 2 * (members - 1)));
}

}  // namespace

void require_elastic(const TrainOptions& options) {
  if (options.workers != 1)
    throw InputError(
        "a member of an elastic run is one worker: start more of them with dasgd join");
  if (options.sampling.deals())
    throw InputError(
        "members of an elastic run draw from all samples: `sampling` is own or independent");
  const RelayChoice relay = options.relay.value_or(RelayMode::none);
  if (options.topology != "full" || options.graph ||
      (!relay.chooses_links() && relay.mode != RelayMode::none))
    throw InputError(
        "members of an elastic run choose their links themselves: `topology.kind` must be "
        "full (the default), `topology.relay` mesh, tree or auto");
  if (!options.time_factors.empty())
    throw InputError(
        "`pace.speeds` is for the workers of one process; use `pace.slow` to slow down a member of "
        "an elastic run");
  if (options.chaos.on_links() || options.target_error || options.measure_gradients)
    throw InputError("an elastic run has neither emulated faults nor a target for the gradient");
}

template <typename Real>
std::string facts_of(const Objective<Real>& objective, const TrainOptions& options) {
  // Of other data another gradient: its length, and how far it goes along a fixed direction, since
  // labels that are swapped only turn it round. Rounded, because machines round differently.
  static constexpr std::array direction{0.3, -0.9, 0.7, -0.2, 0.8, -0.5, 0.1};
  // Of a large model a few samples: nobody waits for them longer than for the model itself.
  static constexpr std::size_t most_rows = 256, most_work = 1 << 26;
  const std::size_t rows_in_time = std::max<std::size_t>(most_work / objective.dimension(), 4);
  const std::size_t known_rows = objective.arrivals() ? 0 : objective.samples();
  std::vector<std::uint32_t> rows(std::min({known_rows, most_rows, rows_in_time}));
  std::iota(rows.begin(), rows.end(), 0u);
  std::vector<Real> gradient(objective.dimension());
  double norm = 0, along = 0;
  const std::vector<Real> start = objective.start();
  double length = 0;
  for (const Real x : start) length += static_cast<double>(x) * static_cast<double>(x);
  try {
    if (known_rows > 0) objective.gradient(start, rows, gradient);
    for (std::size_t k = 0, turn = 0; k < gradient.size(); ++k) {
      const auto g = static_cast<double>(gradient[k]);
      norm += g * g;
      along += g * direction[turn];
      if (++turn == direction.size()) turn = 0;
    }
  } catch (const std::logic_error&) {
    norm = along = 0;  // one whose gradients only its workers know
  }
  return fmt::format(
      "version: {}\n{}\nmodel: {} numbers of {} bits\nstart: a point of length {:.4g}\n"
      "data: a gradient of length {:.3g} along {:.2g}\nseed: {}\n{}",
      version(), data_in_words(objective), objective.dimension(), 8 * sizeof(Real),
      std::sqrt(length), std::sqrt(norm), norm > 0 ? along / std::sqrt(norm) : 0.0, options.seed,
      learning_in_words(options, objective.samples()));
}

template <typename Real>
std::unique_ptr<Member> become_member(const Objective<Real>& objective, const TrainOptions& options,
                                      MemberOptions member) {
  require_elastic(options);
  require_runnable(options, objective);
  elastic::take_options_of_run(objective, options, member);
  member.give_up_after = std::chrono::nanoseconds(join_limit).count();
  auto& before = member.before;
  if (options.resume)
    before = {options.resume->gradients, options.resume->samples, options.resume->seconds};
  auto& [gradients_left, samples_left] = member.budget;
  if (gradients_left) *gradients_left -= std::min(*gradients_left, before.gradients);
  if (samples_left) *samples_left -= std::min(*samples_left, before.samples);
  constexpr std::array merges{"average", "union", "yield"};
  if (!member.facts_are_all)
    member.facts =
        facts_of(objective, options) +
        fmt::format("merge: {}\n", merges[static_cast<std::size_t>(member.merge)]) +
        (member.limits.children > 0 ? fmt::format("relay: {}\n", to_string(*options.relay)) : "") +
        member.facts;
  return std::make_unique<Member>(std::move(member));
}

template <typename Real>
TrainResult<Real> train_member(const Objective<Real>& objective, TrainOptions options,
                               Member& member, const std::vector<Callback<Real>>& callbacks) {
  require_trace_of_all(options);
  options.stall_after = std::chrono::hours(24);  // the protocol reports who is awaited
  const auto start = Clock::now();
  elastic::Protocol& protocol = member.protocol();
  const elastic::Before& before = protocol.options().before;
  const Checkpoint earlier = checkpoint_before<Real>(before, objective.dimension());
  if (!options.resume && before.gradients > 0) options.resume = &earlier;
  options.elastic = ElasticMember{static_cast<std::uint32_t>(member.origin().low),
                                  [&protocol] { return protocol.may_compute(); }};

  Control* control_at = nullptr;
  Control control([&] {
    const auto reason = control_at ? control_at->reason() : std::nullopt;
    if (!protocol.ending() && reason) {
      const bool alone = *reason == StopReason::interrupted || *reason == StopReason::failed ||
                         *reason == StopReason::left;
      if (alone) {
        protocol.leave(member.now());
      } else {
        protocol.stop_run(*reason, member.now());
      }
    }
    member.wake();
    member.nudge();
  });
  control_at = &control;
  TargetGate gate(1, [&] { control.stop(StopReason::target); });
  GoodModel<Real> good([&](double size) { protocol.note_early_loss(size); });
  SharedBudget budget(elastic::without_end(options), objective.samples());
  SnapshotBoard snapshots(1);
  std::ofstream adoptions;
  if (!member.directory().empty()) adoptions.open(member.directory() / "adoptions.jsonl");

  const auto between = [&](RunWorker<Real>& run,
                           const std::function<void(const StepReport&)>& record) {
    const bool copied = elastic::between_steps<Real>(
        protocol, run.worker(), member.now(),
        [&](const elastic::Adoption& adoption, std::span<const Sum<Real>> sums) {
          adoptions << elastic::adoption_line(adoption, run.worker().t(), protocol.numbering(),
                                              member.now())
                    << std::flush;
          run.adopt(adoption.names, sums, adoption.samples);
        },
        record);
    if (copied) member.nudge();
  };
  // What is called on the member's thread does not outlive what it uses.
  const std::shared_ptr<void> until_the_end(nullptr, [&](void*) {
    member.on_tick({});
    member.on_failure({});
  });
  member.on_failure([&](std::exception_ptr why) { control.abandon(why); });
  member.on_tick([&] {
    good.hear_early_loss(protocol.early_loss());
    if (!protocol.could_not_join().empty()) control.stop(StopReason::failed);
    if (const auto why = protocol.ending(); why && !control.stopping()) control.stop(*why);
  });
  auto result = *run_process<Real>({
      .objective = objective,
      .options = options,
      .first = index(elastic::Membership::self),
      .workers = 1,
      .endpoint = [&](WorkerId) -> Endpoint& { return member; },
      .shared = {control, gate, budget, good, options.checkpoint.save ? &snapshots : nullptr,
                 between},
      .snapshots = snapshots,
      .start = start,
      .callbacks = callbacks,
      .drained =
          [&](const Worker<Real>& worker) {
            if (!control.abandoned()) member.compare(elastic::digest_of(worker));
            member.part();
          },
      .end =
          [&](auto&, RunEnd<Real>& end) {
            if (const std::string why = protocol.could_not_join(); !why.empty())
              throw InputError("cannot join: " + why);  // there was no run to report
            if (const auto format = protocol.chosen_format()) options.message = *format;
            options.links_why = protocol.format_reason();
            const auto audit = protocol.audit();
            end.elastic = elastic::figures_of(protocol);
            end.agreed = audit.agreed;
            end.compared = !audit.has_left && (!audit.agreed || audit.digests.size() >= audit.here);
            end.digests = elastic::digests_of(protocol);
            if (!end.failure && !audit.difference.empty() && difference(end.digests).empty())
              end.failure = std::make_exception_ptr(
                  std::runtime_error("the replicas differed: " + audit.difference));
            return true;
          },
  });
  warn_of_staleness(options, result.summary);
  member.close();  // requests were answered until the model was evaluated
  return result;
}

template std::string facts_of(const Objective<float>&, const TrainOptions&);
template std::string facts_of(const Objective<double>&, const TrainOptions&);
template std::unique_ptr<Member> become_member(const Objective<float>&, const TrainOptions&,
                                               MemberOptions);
template std::unique_ptr<Member> become_member(const Objective<double>&, const TrainOptions&,
                                               MemberOptions);
template TrainResult<float> train_member(const Objective<float>&, TrainOptions, Member&,
                                         const std::vector<Callback<float>>&);
template TrainResult<double> train_member(const Objective<double>&, TrainOptions, Member&,
                                          const std::vector<Callback<double>>&);

}  // namespace dasgd::members
