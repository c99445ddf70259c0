// That members have compared their models before they say that these are identical.
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "dasgd/transport/tcp/frame.hpp"
#include "members/small_run.hpp"
#include "tcp/proxy.hpp"

namespace dasgd::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Changes a byte of every body that passes; a careful one makes the checksums right again.
class Forger {
 public:
  explicit Forger(bool careful) : careful_(careful) {}
  bool operator()(std::string& bytes) {
    pending_ += bytes;
    bytes.clear();
    while (pending_.size() >= head_size) {
      std::uint32_t header = 0;
      std::uint64_t body = 0;
      std::memcpy(&header, pending_.data() + 8, sizeof header);
      std::memcpy(&body, pending_.data() + 12, sizeof body);
      const std::size_t all = head_size + header + body;
      if (pending_.size() < all) break;
      if (body > 0) pending_[head_size + header] ^= 1;
      if (body > 0 && careful_) {
        const auto content = std::as_bytes(std::span(pending_.data(), all)).subspan(head_size);
        const auto head = tcp::frame_head(content.first(header), content.subspan(header));
        std::memcpy(pending_.data(), head.data(), head.size());
      }
      bytes += pending_.substr(0, all);
      pending_.erase(0, all);
    }
    return true;
  }

 private:
  static constexpr std::size_t head_size = sizeof(tcp::FrameHead);
  const bool careful_;
  std::string pending_;
};

/// Two members without TLS, and somebody between them who changes what the second one sends.
class Forged : public ::testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<members::Member> member(const std::string& name,
                                          std::vector<std::string> contacts) {
    members::MemberOptions options = run.options(name, std::move(contacts));
    options.say = [this](const std::string& line) {
      const std::lock_guard lock(mutex);
      said += line + "\n";
    };
    return run.member(options);
  }

  SmallRun run;
  std::mutex mutex;
  std::string said;
};

TEST_P(Forged, ModelsAreNotSaidToBeIdentical) {
  const bool careful = GetParam();
  const auto a = member("a", {});
  boost::asio::io_context context;
  Proxy proxy(context, a->address());
  proxy.tamper = Forger(careful);
  const auto b = member("b", {proxy.address()});
  const auto guard = boost::asio::make_work_guard(context);
  std::jthread between([&] { context.run(); });

  TrainResult<double> of_a, of_b;
  {
    const std::jthread first([&] { of_a = run.train(*a); });
    const std::jthread second([&] { of_b = run.train(*b); });
    const auto made = [](members::Member& m) {
      std::uint64_t least = UINT64_MAX, known = 0;
      for (const auto& view : m.protocol().members(m.now()))
        least = std::min(least, view.gradients), ++known;
      return known == 2 ? least : 0;
    };
    while (made(*a) < 40 || made(*b) < 40)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    a->protocol().stop_run(StopReason::asked, a->now());
  }
  context.stop();

  for (const TrainResult<double>* result : {&of_a, &of_b}) {
    const RunSummary& summary = result->summary;
    ASSERT_EQ(summary.digest_of_all.size(), 2u);
    EXPECT_TRUE(summary.replicas_compared);
    EXPECT_EQ(summary.replicas_identical, !careful);
    EXPECT_EQ(summary.replica_digest, summary.digest_of_all[0].digest);
    if (!careful) {  // such a link is closed, and another brings what was lost with it
      EXPECT_EQ(result->failure, nullptr);
      continue;
    }
    EXPECT_THAT(why(result->failure), AllOf(HasSubstr("the replicas differ: "), HasSubstr("a has "),
                                            HasSubstr("b has ")));
  }
  EXPECT_EQ(of_a.summary.digest_of_all[0].digest, of_b.summary.digest_of_all[1].digest);
  if (!careful) {
    EXPECT_THAT(said, HasSubstr("the checksum of a body does not match"));
  }
}

// Nobody asks this run to end.
TEST_P(Forged, ModelsThatDifferAreFoundWhileTheRunGoesOn) {
  if (!GetParam()) return;  // such a link is closed
  run.run.checkpoint = {.every = std::chrono::milliseconds(100), .save = [](const Checkpoint&) {}};
  const auto a = member("a", {});
  boost::asio::io_context context;
  Proxy proxy(context, a->address());
  proxy.tamper = Forger(true);
  const auto b = member("b", {proxy.address()});
  const auto guard = boost::asio::make_work_guard(context);
  std::jthread between([&] { context.run(); });
  TrainResult<double> of_a, of_b;
  {
    const std::jthread first([&] { of_a = run.train(*a); });
    const std::jthread second([&] { of_b = run.train(*b); });
  }
  context.stop();
  EXPECT_THAT(said, HasSubstr("this member's model has the digest"));
  for (const TrainResult<double>* result : {&of_a, &of_b}) {
    EXPECT_EQ(result->summary.stop_reason, StopReason::failed);
    EXPECT_THAT(why(result->failure), AllOf(HasSubstr("the replicas differ: "), HasSubstr("a has "),
                                            HasSubstr("b has ")));
  }
}

INSTANTIATE_TEST_SUITE_P(Bytes, Forged, ::testing::Bool(), [](const auto& info) {
  return info.param ? "with_right_checksums" : "as_they_come";
});

}  // namespace
}  // namespace dasgd::test
