// Updates that lie on devices, between ranks. The memory of this machine stands for that of a
// device: MPI takes either.
#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <stdexcept>

#include "dasgd/transport/mpi/cuda_aware.hpp"
#include "mpi/ranks.hpp"

namespace dasgd::test {
namespace {

using namespace std::chrono_literals;

std::int32_t number_of(GradientName name, std::size_t at) {
  return static_cast<std::int32_t>(1009 * (index(name.origin) + 1) + 31 * name.sequence + 7 * at);
}
int shift_of(GradientName name) { return 2 * static_cast<int>(name.sequence % 3); }

/// On a device that may have its numbers in another order than x: backwards.
class FarNumbers final : public DeviceUpdate {
 public:
  FarNumbers(std::size_t size, bool backwards) : all_(size + 1), backwards_(backwards) {}

  void write(GradientName name) {
    for (std::size_t k = 0; k < size(); ++k) all_[place(k)] = number_of(name, k);
    all_.back() = shift_of(name);
  }
  void become_ready(bool now) { ready_ = now; }

  std::size_t size_in_bytes() const override { return size() * sizeof(std::int32_t); }
  bool ready() const override { return ready_; }
  int fetch(std::span<std::byte> to) const override {
    require_ready();
    for (std::size_t k = 0; k < size(); ++k)
      reinterpret_cast<std::int32_t*>(to.data())[k] = all_[place(k)];
    return all_.back();
  }
  std::span<std::byte> memory() override {
    require_ready();
    return std::as_writable_bytes(std::span(all_));
  }

 private:
  std::size_t size() const { return all_.size() - 1; }
  std::size_t place(std::size_t k) const { return backwards_ ? size() - 1 - k : k; }
  void require_ready() const {
    if (!ready_) throw std::logic_error("somebody did not wait for a device");
  }

  std::vector<std::int32_t> all_;
  const bool backwards_;
  std::atomic<bool> ready_{true};
};

/// The device of a rank.
struct FarDevice {
  std::size_t size;
  bool backwards = false;
  std::atomic<int> rooms = 0;

  DeviceBuffers room() {
    return {.make =
                [this] {
                  ++rooms;
                  return std::make_shared<FarNumbers>(size, backwards);
                },
            .order = backwards ? "backwards" : "forwards"};
  }
};

/// A worker whose updates lie on its device; or nowhere else than here, where it has none.
class FarWorker {
 public:
  FarWorker(MpiWorld& world, std::size_t size, const FarDevice* device)
      : self_(static_cast<std::size_t>(world.rank())),
        endpoint_(world.endpoint(self_)),
        size_(size),
        device_(device) {}

  /// The numbers of what it sent, if they lie on its device.
  std::shared_ptr<FarNumbers> send(bool ready = true) {
    auto g = endpoint_.blank();
    g->name = {worker_id(self_), sent_++};
    g->compute_set = applied;
    g->origin_step = applied.size();
    g->samples = 1;
    std::shared_ptr<FarNumbers> there;
    if (device_) {
      there = std::make_shared<FarNumbers>(size_, device_->backwards);
      there->write(g->name);
      there->become_ready(ready);
      g->update.put(there, NumberFormat::of_float);
    } else {
      g->update.resize<float>(size_);
      for (std::size_t k = 0; k < size_; ++k) g->update.numbers<float>()[k] = number_of(g->name, k);
      g->update.shift = shift_of(g->name);
    }
    applied.insert(g->name);
    endpoint_.send(std::move(g));
    return there;
  }

  /// Receives what is there and looks at every number.
  bool receive() {
    Received batch;
    endpoint_.receive(8, batch);
    for (const GradientPtr& g : batch.gradients) {
      EXPECT_TRUE(applied.insert(g->name));
      (g->update.on_device() ? by_device : by_host).insert(g->name);
      const auto numbers = std::as_const(g->update).numbers<float>();
      EXPECT_EQ(numbers.size(), size_);
      for (std::size_t k = 0; k < numbers.size(); ++k) EXPECT_EQ(numbers[k], number_of(g->name, k));
      EXPECT_EQ(g->update.shift, shift_of(g->name));
    }
    if (batch.bundle) {
      std::vector<std::int64_t> sums(size_);
      for (const GradientFacts& g : batch.bundle->facts()) {
        EXPECT_TRUE(applied.insert(g.name));
        folded.insert(g.name);
        for (std::size_t k = 0; k < size_; ++k)
          sums[k] += std::int64_t{number_of(g.name, k)} << shift_of(g.name);
      }
      EXPECT_TRUE(std::ranges::equal(batch.bundle->sums<float>(), sums));
    }
    endpoint_.applied(batch);
    return !batch.empty();
  }
  /// Until it has applied so many.
  void receive_until(std::size_t count) {
    while (applied.size() < count)
      if (!receive()) endpoint_.wait(100ms);
  }
  void wait_for(const std::atomic<bool>& news) {
    while (!news) endpoint_.wait(10ms);
  }

  GradientSet applied, by_device, by_host, folded;

 private:
  const std::size_t self_;
  Endpoint& endpoint_;
  const std::size_t size_;
  const FarDevice* const device_;
  std::uint32_t sent_ = 0;
};

TEST(MpiOnDevices, UpdatesGoFromDeviceToDeviceOverRelays) {
  constexpr std::uint32_t each = 20;
  for (const bool backwards : {false, true})
    for (const std::size_t piece : {std::size_t{1} << 30, std::size_t{1000}}) {
      FarDevice device{.size = 1001, .backwards = backwards};
      const auto world = mpi_world(build_graph("ring", 4, 1), {.relay = RelayMode::arrival,
                                                               .in_flight = 256,
                                                               .update_bytes = 1001 * 4,
                                                               .device = device.room(),
                                                               .cuda_aware = true,
                                                               .piece_bytes = piece});
      std::uint64_t copies = 0;
      if (world) {
        EXPECT_EQ(world->network().ranks_by_device(), 3u);
        FarWorker worker(*world, device.size, &device);
        for (std::uint32_t k = 0; k < each; ++k) {
          worker.send();
          worker.receive();
        }
        worker.receive_until(4 * each);
        EXPECT_EQ(worker.by_device.size(), 3 * each);
        EXPECT_GT(device.rooms, 0);
        world->network().close();
        copies = world->endpoint(static_cast<std::size_t>(world->rank())).copies_dropped();
      }
      std::uint64_t all = 0;
      for (const std::string& of_rank : all_ranks()->gather(std::to_string(copies)))
        all += std::stoull(of_rank);
      EXPECT_EQ(all, 2 * 4 * each) << "of five messages with a gradient, two are copies";
    }
}

TEST(MpiOnDevices, RanksWithOtherOrdersOrWithoutADeviceGetThemByThisMachinesMemory) {
  for (const char* graph : {"full", "ring"}) {
    const int rank = all_ranks()->rank();
    const bool ring = std::string(graph) == "ring";
    FarDevice device{.size = 100, .backwards = rank == 2};
    const auto world =
        mpi_world(build_graph(graph, 4, 1), {.relay = ring ? RelayMode::arrival : RelayMode::none,
                                             .in_flight = 256,
                                             .update_bytes = 400,
                                             .device = rank == 3 ? DeviceBuffers{} : device.room(),
                                             .cuda_aware = true});
    if (!world) continue;
    EXPECT_EQ(world->network().ranks_by_device(), rank < 2 ? 1u : 0u);
    FarWorker worker(*world, device.size, rank == 3 ? nullptr : &device);
    for (int k = 0; k < 20; ++k) worker.send();
    worker.receive_until(80);
    const std::size_t from_twin = rank < 2 ? 20 : 0;
    if (!ring) EXPECT_EQ(worker.by_device.size(), from_twin);
    if (!ring) EXPECT_EQ(worker.by_device.prefix(worker_id(rank == 0 ? 1u : 0u)), from_twin);
  }
}

TEST(MpiOnDevices, WhereMpiDoesNotKnowDevicesNothingIsReceivedThere) {
  FarDevice device{.size = 100};
  const auto world = mpi_world(build_graph("full", 3, 1), {.relay = RelayMode::none,
                                                           .in_flight = 8,
                                                           .update_bytes = 400,  // they are lent
                                                           .device = device.room(),
                                                           .cuda_aware = false});
  if (!world) return;
  EXPECT_EQ(world->network().ranks_by_device(), 0u);
  FarWorker worker(*world, device.size, &device);
  for (int k = 0; k < 100; ++k) {
    worker.send();
    worker.receive();
  }
  worker.receive_until(300);
  EXPECT_EQ(device.rooms, 0);
}

TEST(MpiOnDevices, MpiIsAskedWhetherItKnowsThem) {
  FarDevice device{.size = 100};
  const bool aware = mpi::is_cuda_aware();
  const auto world =
      mpi_world(build_graph("full", 2, 1), {.relay = RelayMode::none, .device = device.room()});
  if (!world) return;
  EXPECT_EQ(world->network().options().cuda_aware, aware);
  EXPECT_EQ(world->network().ranks_by_device(), aware ? 1u : 0u);
}

TEST(MpiOnDevices, WhatIsStillComputedIsNotWaitedForAndNotOvertaken) {
  std::atomic<bool> news = false;
  FarDevice device{.size = 100};
  for (const bool aware : {true, false}) {
    news = false;
    const auto world =
        mpi_world(build_graph("full", 2, 1), {.relay = RelayMode::none,
                                              .device = device.room(),
                                              .cuda_aware = aware,
                                              .on_note = [&](int, const Bytes&) { news = true; }});
    if (!world) continue;
    FarWorker worker(*world, device.size, &device);
    if (world->rank() == 0) {
      const auto first = worker.send(/*ready=*/false);
      worker.send();
      world->network().send_note(1, {});
      worker.wait_for(news);
      first->become_ready(true);
    } else {
      worker.wait_for(news);
      EXPECT_FALSE(worker.receive()) << "the progress thread did not stop";
      world->network().send_note(0, {});
      worker.receive_until(2);
    }
  }
}

TEST(MpiOnDevices, WhatWaitsForAWorkerThatIsBehindIsFolded) {
  constexpr std::uint32_t count = 300;
  std::atomic<bool> all_sent = false;
  FarDevice device{.size = 50};
  const auto world = mpi_world(build_graph("ring", 3, 1),
                               {.relay = RelayMode::arrival,
                                .in_flight = 4,
                                .update_bytes = 50 * 4,
                                .device = device.room(),
                                .cuda_aware = true,
                                .on_note = [&](int, const Bytes&) { all_sent = true; }});
  if (!world) return;
  FarWorker worker(*world, device.size, &device);
  if (world->rank() == 0) {
    for (std::uint32_t k = 0; k < count; ++k) worker.send();
    for (const int rank : {1, 2}) world->network().send_note(rank, {});
  } else {
    worker.wait_for(all_sent);
    worker.receive_until(count);
    EXPECT_GT(worker.folded.size(), 0u);
  }
}

}  // namespace
}  // namespace dasgd::test
