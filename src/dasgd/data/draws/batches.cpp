#include "dasgd/data/draws/batches.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "dasgd/base/nearest_word.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/draws/label_shares.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd {
namespace {

const std::vector<std::string>& sampling_names() {
  static const std::vector<std::string> names{"own", "shards", "independent", "dirichlet:ALPHA"};
  return names;
}

const std::string skewed = "dirichlet:";

double parse_alpha(const std::string& text) {
  const double alpha = parse_real(text.substr(skewed.size()));
  if (!(alpha >= 1e-3 && alpha <= 1e6))
    throw InputError("sampling \"" + text + "\": ALPHA is a number from 0.001 to 1e6");
  return alpha;
}

}  // namespace

Sampling parse_sampling(const std::string& text) {
  if (text.starts_with(skewed)) return {Sampling::dirichlet, parse_alpha(text)};
  const auto at = std::find(sampling_names().begin(), sampling_names().end() - 1, text);
  if (at == sampling_names().end() - 1)
    throw InputError("unknown sampling \"" + text + "\"" + suggestion(text, sampling_names()));
  return static_cast<Sampling::Kind>(at - sampling_names().begin());
}

std::string to_string(const Sampling& sampling) {
  return sampling.kind == Sampling::dirichlet ? skewed + show_real(sampling.alpha)
                                              : sampling_names()[sampling.kind];
}

std::size_t BatchShape::samples_of(std::uint64_t number) const {
  if (batch == 0) return share;
  if (share == 0) return 0;
  if (independent) return batch;
  return std::min(batch, share - number % per_pass() * batch);
}

BatchShape batch_shape(const Sampling& sampling, WorkerId worker, std::size_t workers,
                       std::size_t samples, std::size_t batch) {
  if (batch == 0 || !sampling.deals())
    return {samples, batch, batch > 0 && sampling == Sampling::independent};
  return {first_of_share(index(worker) + 1, workers, samples) -
              first_of_share(index(worker), workers, samples),
          batch};
}

Batches::Batches(const Options& options, WorkerId worker)
    : seed_(options.seed),
      worker_(worker),
      shape_(
          batch_shape(options.sampling, worker, options.workers, options.samples, options.batch)) {
  if (options.samples > std::numeric_limits<std::uint32_t>::max())
    throw InputError(std::to_string(options.samples) +
                     " training samples are too many; there may be 4294967295");
  if (!options.sampling.deals() || options.batch == 0) return;
  if (options.sampling.kind == Sampling::dirichlet) {
    if (options.labels.size() != options.samples)
      throw InputError("`sampling` dirichlet needs labels; these samples have none");
    share_ = deal_by_label(options.labels, options.workers, options.sampling.alpha,
                           seed_)[index(worker)];
    return;
  }
  const auto dealt = permutation(options.samples, Random(seed_, Purpose::shards));
  const auto first = dealt.begin() + static_cast<std::ptrdiff_t>(first_of_share(
                                         index(worker), options.workers, options.samples));
  share_.assign(first, first + static_cast<std::ptrdiff_t>(shape_.share));
}

Draw Batches::next() {
  if (shape_.share == 0) return Draw::no_more();
  const std::uint64_t number = first_not_done(next_);
  next_ = number + 1;
  const std::uint64_t after = first_not_done(next_);
  const bool has_room = shape_.batch > 0 && after % 2 != number % 2;
  const Rows rows = rows_of(number);
  return Draw::batch(rows, number, has_room ? rows_of(after) : Rows());
}

Rows Batches::rows_of(std::uint64_t number) {
  auto& rows = rows_[number % 2];
  if (number_of_[number % 2] != number) gather(number, rows);
  number_of_[number % 2] = number;
  return rows;
}

void Batches::seek(std::uint64_t number, std::vector<std::uint64_t> done) {
  next_ = number;
  done_ = std::move(done);
}

std::uint64_t Batches::first_not_done(std::uint64_t number) const {
  while (std::binary_search(done_.begin(), done_.end(), number)) ++number;
  return number;
}

void Batches::gather(std::uint64_t number, std::vector<std::uint32_t>& rows) {
  if (shape_.batch == 0) {
    rows.resize(shape_.share);
    std::iota(rows.begin(), rows.end(), 0u);
    return;
  }
  if (shape_.independent) {
    Random random(seed_, Purpose::independent_draws, static_cast<std::uint32_t>(worker_),
                  static_cast<std::uint32_t>(number));
    rows.resize(shape_.batch);
    for (auto& row : rows) row = random.below(static_cast<std::uint32_t>(shape_.share));
    return;
  }
  const std::uint64_t pass = number / shape_.per_pass();
  if (pass_ != pass) order_ = order_of(pass);
  pass_ = pass;
  const auto first = static_cast<std::uint32_t>(number % shape_.per_pass() * shape_.batch);
  rows.resize(shape_.samples_of(number));
  for (std::uint32_t k = 0; k < rows.size(); ++k) {
    const std::uint32_t place = (*order_)[first + k];
    rows[k] = share_.empty() ? place : share_[place];
  }
}

IndexPermutation Batches::order_of(std::uint64_t pass) const {
  return {static_cast<std::uint32_t>(shape_.share),
          Random(seed_, Purpose::epoch_order, static_cast<std::uint32_t>(worker_),
                 static_cast<std::uint32_t>(pass))};
}

}  // namespace dasgd
