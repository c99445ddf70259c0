// What all workers of a simulation did, put together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dasgd/record/run_summary.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"
#include "dasgd/run/worker_figures.hpp"
#include "dasgd/sim/agent.hpp"
#include "dasgd/sim/residuals.hpp"

namespace dasgd {

/// Whether somebody looks at the model after every single application.
inline bool shows_every_model(const TrainOptions& options) {
  return options.trace || never_folds(options);
}

/// The figures of this instant.
template <typename Real>
RunFigures figures_of(const Agents<Real>& agents, Nanoseconds now, std::uint64_t applications) {
  RunFigures figures{.seconds = static_cast<double>(now) * 1e-9, .applications = applications};
  FiguresOfWorkers all(figures);
  for (std::size_t worker = 0; const auto& agent : agents) {
    WorkerFigures of_worker = figures_of(agent->run);
    of_worker.computed = agent->computed;
    all.add(worker++, of_worker, agent->inbox_depth);
  }
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
