// What goes wrong on the links and with the workers, on purpose and drawn from the seed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/core/names.hpp"
#include "dasgd/random/random.hpp"
#include "dasgd/topology/graph.hpp"

namespace dasgd {

/// Delivery stays exactly-once whatever is asked for.
struct Chaos {
  double delay = 0;             ///< share of transmissions that take longer ...
  Nanoseconds delay_up_to = 0;  ///< ... by up to this
  double reorder = 0;           ///< share of transmissions that may be overtaken and overtake
  double duplicate = 0;         ///< share of transmissions that arrive twice
  double drop = 0;              ///< share of transmissions that are lost and sent again
  Nanoseconds resend_after = 1'000'000;

  struct Pause {
    WorkerId worker{};
    Nanoseconds at = 0, length = 0;
  };
  std::vector<Pause> pauses;  ///< the worker begins nothing new in [at, at + length)

  struct Partition {
    std::vector<WorkerId> one, other;
    Nanoseconds at = 0, length = 0;
  };
  std::vector<Partition> partitions;  ///< frames between the two sides wait until it heals

  bool on_links() const {
    return delay > 0 || reorder > 0 || duplicate > 0 || drop > 0 || !partitions.empty();
  }
  bool any() const { return on_links() || !pauses.empty(); }
  /// When `worker` may go on, if it is paused at `now`.
  std::optional<Nanoseconds> paused_until(WorkerId worker, Nanoseconds now) const;
};

/// Throws InputError for chaos that does not fit the graph.
void validate(const Chaos& chaos, const Graph& graph);

/// One link under chaos: when its frames leave and arrive. FIFO but for reordered frames. Its
/// transport guards it.
class DisturbedLink {
 public:
  /// `id` distinguishes the links of a graph.
  DisturbedLink(WorkerId from, WorkerId to, std::uint32_t id) : from_(from), to_(to), id_(id) {}

  /// The chance of the next frame: a pure function of the seed, the link and the frame's number.
  Random next_frame(std::uint64_t seed);
  /// How many frames were sent before this one.
  std::uint64_t frame() const { return frames_ - 1; }

  /// When a frame that is sent at `now` leaves: after partitions and lost transmissions.
  Nanoseconds leaves(const Chaos& chaos, Random& random, Nanoseconds now) const;

  struct Arrivals {
    Nanoseconds first;
    std::optional<Nanoseconds> copy;
  };
  /// When a frame arrives that would need until `arrival`. Frames are overtaken within three times
  /// `spread`, and copies follow within it.
  Arrivals arrives(const Chaos& chaos, Random& random, Nanoseconds arrival, Nanoseconds spread);

 private:
  WorkerId from_, to_;
  std::uint32_t id_;
  std::uint64_t frames_ = 0;
  Nanoseconds last_arrival_ = 0;
};

}  // namespace dasgd
