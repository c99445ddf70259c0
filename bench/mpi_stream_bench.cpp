// What the MPI transport costs, on two ranks: mpirun -n 2 mpi_stream_bench. Every figure is a ratio
// of two things measured in turns in this run.
#include <algorithm>
#include <fmt/format.h>
#include <mpi.h>
#include <vector>

#include "dasgd/cluster/train_ranks.hpp"
#include "dasgd/data/catalogue.hpp"
#include "dasgd/data/draws/batches.hpp"
#include "dasgd/data/images/image_samples.hpp"
#include "dasgd/problems/softmax.hpp"
#include "dasgd/topology/builders.hpp"
#include "dasgd/transport/mpi/communicator.hpp"
#include "dasgd/transport/mpi/mesh.hpp"
#include "noise.hpp"
#include "ratio.hpp"
#if DASGD_TORCH
#include "cnn.hpp"
#endif

namespace dasgd::bench {
namespace {

using namespace std::chrono_literals;

// Bytes per second of one message going to and fro.
double ping_pong(int rank, std::size_t size, int rounds) {
  std::vector<std::byte> buffer(size, std::byte{1});
  const auto count = static_cast<int>(size);
  const auto once = [&] {
    if (rank == 0) MPI_Send(buffer.data(), count, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
    MPI_Recv(buffer.data(), count, MPI_BYTE, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(buffer.data(), count, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
  };
  once();
  MPI_Barrier(MPI_COMM_WORLD);
  const double time = seconds([&] {
    for (int k = 0; k < rounds; ++k) once();
  });
  return 2.0 * rounds * static_cast<double>(size) / time;
}

// Bytes per second of gradients from rank 0 to rank 1, through the whole transport.
double stream(mpi::Communicator& ranks, std::size_t size, std::uint32_t count,
              mpi::Polling polling) {
  mpi::RankMesh network(ranks.duplicate(), build_graph("full", 2, 1),
                        {.relay = RelayMode::none, .in_flight = 4 * count, .polling = polling});
  Endpoint& endpoint = network.endpoint(worker_id(static_cast<std::size_t>(ranks.rank())));
  const std::uint32_t warm_up = 16;
  const auto send = [&](std::uint32_t upto, std::uint32_t& sent, GradientSet& applied) {
    while (sent < upto) {
      auto g = endpoint.blank();
      g->name = {WorkerId{0}, sent++};
      g->origin_step = applied.size();
      g->compute_set = applied;
      g->update.resize_bytes(size, NumberFormat::of_float);
      applied.insert(g->name);
      endpoint.send(std::move(g));
    }
    while (endpoint.inbox_depth() == 0) endpoint.wait(100ms);  // the answer: all have arrived
    Received answer;
    endpoint.receive(1, answer);
    applied.insert(answer.gradients.front()->name);
  };
  std::uint32_t number = 0;
  GradientSet applied;
  if (ranks.rank() == 0) {
    send(warm_up, number, applied);
    const double time = seconds([&] { send(warm_up + count, number, applied); });
    return static_cast<double>(count) * static_cast<double>(size) / time;
  }
  Received batch;
  for (const std::uint32_t target : {warm_up, warm_up + count}) {
    while (applied.prefix(WorkerId{0}) < target) {
      batch.clear();
      endpoint.receive(8, batch);
      for (const GradientPtr& g : batch.gradients) applied.insert(g->name);
      if (batch.bundle)
        for (const GradientFacts& g : batch.bundle->facts()) applied.insert(g.name);
      if (batch.empty()) endpoint.wait(100ms);
    }
    batch.clear();
    auto g = endpoint.blank();
    g->name = {WorkerId{1}, number++};
    g->origin_step = applied.size();
    g->compute_set = applied;
    applied.insert(g->name);
    endpoint.send(std::move(g));
  }
  return 0;
}

void streams(mpi::Communicator& ranks) {
  for (const double megabytes : {0.5, 4.0, 64.0}) {
    const auto size = static_cast<std::size_t>(megabytes * 1e6);
    const int rounds = std::clamp(static_cast<int>(500 / megabytes), 10, 400);
    std::vector<double> raw, eager, patient;
    for (int turn = 0; turn < 3; ++turn) {
      ranks.barrier();
      raw.push_back(ping_pong(ranks.rank(), size, rounds));
      const auto count = static_cast<std::uint32_t>(2 * rounds);
      eager.push_back(stream(ranks, size, count, mpi::Polling::eager));
      patient.push_back(stream(ranks, size, count, mpi::Polling::patient));
    }
    if (ranks.rank() == 0)
      fmt::print(
          "gradient stream, {:>4} MB: ping-pong {:.2f} GB/s, of it eager {:.2f}, patient "
          "{:.2f}\n",
          megabytes, median(raw) / 1e9, median(eager) / median(raw), median(patient) / median(raw));
  }
}

// Gradients per second of the kernel alone, of this rank's share of loops that know nothing of each
// other.
double bare_rate(const Objective<float>& problem, std::size_t batch, std::uint32_t count) {
  Batches batches({.samples = problem.samples(), .batch = batch}, WorkerId{0});
  std::vector<float> x = problem.start(), g(x.size());
  return count / seconds([&] {
           for (std::uint32_t k = 0; k < count; ++k) {
             problem.gradient(x, batches.next().rows, g);
             for (std::size_t i = 0; i < x.size(); ++i) x[i] -= 0.01f * g[i];
           }
         });
}

// Gradients per second of both ranks together while both compute.
double rank_rate(mpi::Communicator& ranks, const Objective<float>& problem, std::size_t batch,
                 std::chrono::seconds time, double slow, mpi::Polling polling) {
  TrainOptions options{.workers = 2, .eta = 0.01, .batch = batch, .max_time = time};
  if (slow > 1) options.slow = {{WorkerId{1}, slow}};
  const auto result = train_ranks<float>(ranks, problem, options, {.polling = polling});
  if (!result) return 0;
  const auto& s = result->summary;
  return static_cast<double>(s.gradients) / (static_cast<double>(s.time[0]) * 1e-9);
}

void training(mpi::Communicator& ranks, const std::string& name, const Objective<float>& problem,
              std::size_t batch, std::uint32_t bare_gradients, std::chrono::seconds time) {
  for (const double slow : {1.0, 10.0}) {
    for (const auto polling : {mpi::Polling::eager, mpi::Polling::patient}) {
      std::vector<double> ratios;
      for (int turn = 0; turn < 3; ++turn) {
        ranks.barrier();
        double bare = bare_rate(problem, batch, bare_gradients);  // both at the same time
        ranks.barrier();
        MPI_Allreduce(MPI_IN_PLACE, &bare, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        ratios.push_back(rank_rate(ranks, problem, batch, time, slow, polling) /
                         (bare / 2 * (1 + 1 / slow)));
      }
      if (ranks.rank() == 0)
        fmt::print("{}, batch {:>3}, 2 ranks{}, {}: {:.3f} of two bare loops at once\n", name,
                   batch, slow > 1 ? ", one 10x slower" : "", mpi::to_string(polling),
                   median(ratios));
    }
  }
}

}  // namespace
}  // namespace dasgd::bench

// mpirun -n 2 mpi_stream_bench [cnn]
int main(int argc, char** argv) {
  dasgd::mpi::Session session;
  if (session.world().size() != 2) {
    if (session.world().rank() == 0) fmt::print(stderr, "use: mpirun -n 2 mpi_stream_bench\n");
    return 2;
  }
  if (session.world().rank() == 0) fmt::print("{}\n", dasgd::mpi::Session::library());
  const dasgd::bench::Noise noise;
  const std::string only = argc > 1 ? argv[1] : "";
  if (only != "cnn") dasgd::bench::streams(session.world());
  using namespace std::chrono_literals;
  const dasgd::Softmax softmax(
      dasgd::image_samples(dasgd::read_idx_directory(dasgd::locate_data("fashion-mnist")),
                           {.scale = dasgd::Scale::by_255}));
  for (const std::size_t batch : {64, 256})
    if (only != "cnn") dasgd::bench::training(session.world(), "softmax", softmax, batch, 600, 2s);
#if DASGD_TORCH
  dasgd::bench::training(session.world(), "cnn", dasgd::bench::cnn(), dasgd::bench::cnn_batch, 80,
                         5s);
#endif
  if (session.world().rank() == 0) fmt::print("{}", noise.report());
}
