// From the data of a choice to samples in their parts.
#pragma once

#include <memory>

#include "dasgd/data/preparation/prepared_samples.hpp"
#include "dasgd/models/data_source.hpp"
#include "dasgd/models/problem.hpp"
#include "dasgd/problems/logistic.hpp"

namespace dasgd {

inline constexpr std::size_t least_rows = 20;  ///< of a table that is trained on

/// Rows or images for softmax and networks, as the choice says; `seed` draws the validation part.
/// `known`: of a network that scales its inputs itself and has names for its answers. Throws
/// InputError.
std::shared_ptr<const PreparedSamples> read_prepared(ProblemChoice choice, std::uint64_t seed,
                                                     const Preprocessing* known = nullptr);

/// The data of a network: the same, or a text for char-transformer and where it ends in .txt.
std::shared_ptr<const Samples> read_samples(const ProblemChoice& choice, std::uint64_t seed,
                                            const Preprocessing* known = nullptr);

/// The data of logistic regression. LIBSVM files are neither split nor scaled unless that is asked
/// for, as in the paper.
SignedParts read_signed(const ProblemChoice& choice, std::uint64_t seed);

}  // namespace dasgd
