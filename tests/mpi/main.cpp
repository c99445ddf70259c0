// Every rank runs every test; rank 0 reports, and others only what fails.
#include <gtest/gtest.h>

#include "dasgd/transport/mpi/communicator.hpp"
#include "mpi/ranks.hpp"

namespace dasgd::test {

mpi::Communicator*& all_ranks() {
  static mpi::Communicator* world = nullptr;
  return world;
}

}  // namespace dasgd::test

namespace {

class FailuresOnly final : public ::testing::EmptyTestEventListener {
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", dasgd::test::all_ranks()->rank(),
                 result.file_name() ? result.file_name() : "?", result.line_number(),
                 result.message());
  }
};

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  dasgd::mpi::Session session;
  dasgd::test::all_ranks() = &session.world();
  if (session.world().rank() != 0) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly);
  }
  return RUN_ALL_TESTS();
}
