// How much a message may say of the gradients in it.
#pragma once

#include <algorithm>
#include <cstddef>

namespace dasgd {

/// The numbers of many gradients become one sum, but not their facts: names, steps, compute sets.
/// MPI counts in int and receivers keep facts, so a message brings a bounded number of bytes of
/// them: few, or as many as an update takes where that is more. So sums that are begun for the
/// sake of facts take at most twice the memory of these facts, up to models whose updates take
/// `most`.
struct FactsLimit {
  std::size_t few = std::size_t{32} << 20, most = std::size_t{256} << 20;

  /// Beside an update or a sum of so many bytes.
  bool allows(std::size_t facts, std::size_t numbers) const {
    return facts <= std::max(few, std::min(numbers, most));
  }
};

}  // namespace dasgd
