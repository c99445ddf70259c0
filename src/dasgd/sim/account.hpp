// What all workers of a simulation did, put together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "dasgd/record/run_summary.hpp"
#include "dasgd/run/figures.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"
#include "dasgd/sim/agent.hpp"
#include "dasgd/sim/residuals.hpp"

namespace dasgd {

/// Whether somebody looks at the model after every single application.
inline bool shows_every_model(const TrainOptions& options) {
  return options.trace || options.measure_gradients || options.target_error;
}

template <typename Real>
using Agents = std::vector<std::unique_ptr<Agent<Real>>>;

/// The figures of this instant.
template <typename Real>
RunFigures figures_of(const Agents<Real>& agents, Nanoseconds now, std::uint64_t applications) {
  RunFigures figures{.seconds = static_cast<double>(now) * 1e-9, .applications = applications};
  double loss = 0, losses = 0;
  for (const auto& agent : agents) {
    const StalenessStatistics& S = agent->run.S();
    figures.gradients += agent->computed;
    figures.samples += agent->run.samples_used();
    figures.folded += agent->run.folded();
    figures.S_avg = std::max(figures.S_avg, S.mean());
    figures.S_max = std::max(figures.S_max, S.max);
    const std::size_t waiting = agent->inbox_depth();
    figures.inbox_depth = std::max(figures.inbox_depth, waiting);
    figures.gradients_by_worker.push_back(agent->computed);
    figures.inbox_by_worker.push_back(static_cast<std::uint32_t>(waiting));
    figures.waited_by_worker.push_back(0);
    figures.add(agent->run.look_ahead());
    const auto recent = agent->run.recent_loss();
    loss += recent.value_or(0);
    losses += recent ? 1 : 0;
  }
  if (losses > 0) figures.loss = loss / losses;
  return figures;
}

/// At the end, in order of workers.
template <typename Real>
std::vector<WorkerReport> reports_of(const Agents<Real>& agents) {
  std::vector<WorkerReport> reports;
  for (const auto& agent : agents) {
    reports.push_back(agent->run.report());
    reports.back().copies_dropped = agent->relay.copies_dropped();
    reports.back().sent = agent->frame_queue.sent(agent->id);
  }
  return reports;
}

/// What the residuals of the run are held against.
template <typename Real>
LemmaTerms lemma_terms(const Agents<Real>& agents, const TrainOptions& options, std::size_t samples,
                       const RunSummary& summary) {
  LemmaTerms terms{.eta = options.eta, .S_avg = summary.staleness.S_avg};
  terms.comparable =
      options.rule.is_plain() && summary.halvings == 0 && !gradients_have_noise(options, samples);
  terms.constants.L = options.smoothness.value_or(0);
  for (const auto& agent : agents) {
    terms.constants.Q = std::max(terms.constants.Q, agent->run.target().largest_gradient());
    terms.squared_gradients.push_back(*agent->run.target().squared_gradients());
  }
  return terms;
}

template <typename Real>
void account_for(const ResidualMeter<Real>& residuals, const Agents<Real>& agents,
                 const TrainOptions& options, std::size_t samples, RunSummary& summary) {
  summary.residuals = residuals.against_lemmas(lemma_terms(agents, options, samples, summary));
  summary.residuals_why =
      summary.residuals ? "" : "the gradients of the run take too much memory to be kept";
}

}  // namespace dasgd
