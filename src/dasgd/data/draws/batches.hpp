// Which samples a worker sees: a pure function of (seed, worker, number of the batch).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dasgd/core/names.hpp"
#include "dasgd/core/samples.hpp"
#include "dasgd/random/index_permutation.hpp"

namespace dasgd {

/// From where workers draw.
struct Sampling {
  enum Kind : std::uint32_t {
    /// Every worker from the whole data set, in an order of its own (the paper's Assumption 2). How
    /// fast a worker is changes how many samples it contributes and nothing about what is
    /// minimised.
    own,
    /// Every worker from a fixed share of it, for data that cannot move. Then what is minimised is
    /// the mean over the workers' shares, each weighted by the gradients that its worker makes.
    shards,
    /// Every sample of every batch from the whole data set, with replacement: the paper's xi ~ D.
    /// No draw depends on those before it, which the proofs with noise need.
    independent,
    /// Fixed shares of equal size that are skewed by label: the smaller `alpha`, the fewer classes
    /// a worker sees most of.
    dirichlet,
  };
  Kind kind = own;
  double alpha = 0;

  Sampling(Kind of = own, double skew = 0) : kind(of), alpha(skew) {}  // NOLINT: a kind is one
  friend bool operator==(const Sampling&, const Sampling&) = default;

  /// Whether workers have fixed shares.
  bool deals() const { return kind == shards || kind == dirichlet; }
};

/// "own", "shards", "independent" or "dirichlet:ALPHA". Throws InputError for anything else.
Sampling parse_sampling(const std::string& text);
std::string to_string(const Sampling& sampling);

/// How what one worker draws from is cut into batches.
struct BatchShape {
  std::size_t share = 0;     ///< samples that it draws from
  std::size_t batch = 0;     ///< samples per batch; 0: all of them
  bool independent = false;  ///< with replacement: every batch is a whole one

  /// Batches in one pass over the share; the last one may be smaller. Independent draws have no
  /// passes: as many as make up so many samples.
  std::size_t per_pass() const { return batch == 0 ? 1 : (share + batch - 1) / batch; }
  /// Samples in the batch of that number.
  std::size_t samples_of(std::uint64_t number) const;
};

/// The shape of what worker i draws from.
BatchShape batch_shape(const Sampling& sampling, WorkerId worker, std::size_t workers,
                       std::size_t samples, std::size_t batch);

/// One worker's endless sequence of mini-batches: in passes over its share, each in an order of its
/// own, or of independent draws. Neither time nor other workers can change a draw.
class Batches final : public SampleSource {
 public:
  struct Options {
    std::uint64_t seed = 1;
    Sampling sampling = Sampling::own;
    std::size_t workers = 1, samples = 0;
    std::size_t batch = 0;  ///< 0: every batch is the whole data set, for every worker
    std::vector<std::uint32_t> labels = {};  ///< of all samples, where shares are skewed by them
  };
  Batches(const Options& options, WorkerId worker);

  /// No more only if the worker's share is empty (shards of fewer samples than workers).
  Draw next() override;

  /// Goes to the place before batch `number`, as if all before had been drawn, and passes over
  /// those of `done`, which ascend.
  void seek(std::uint64_t number, std::vector<std::uint64_t> done = {});

  const BatchShape& shape() const { return shape_; }

 private:
  /// The rows of a batch, where they are kept.
  Rows rows_of(std::uint64_t number);
  void gather(std::uint64_t number, std::vector<std::uint32_t>& rows);
  IndexPermutation order_of(std::uint64_t pass) const;
  std::uint64_t first_not_done(std::uint64_t number) const;

  const std::uint64_t seed_;
  const WorkerId worker_;
  const BatchShape shape_;
  std::vector<std::uint32_t> share_;  // the rows as dealt; empty where it is all of them
  std::vector<std::uint64_t> done_;
  std::uint64_t next_ = 0;  // the batch that comes next
  // The current batch and the one after, at their number modulo 2.
  std::array<std::vector<std::uint32_t>, 2> rows_;
  std::array<std::optional<std::uint64_t>, 2> number_of_;
  std::optional<std::uint64_t> pass_;
  std::optional<IndexPermutation> order_;
};

}  // namespace dasgd
