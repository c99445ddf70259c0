// The live page of a run on ranks: rank 0 serves it, and it shows everybody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>

#include "mpi/mpi_app.hpp"
#include "watch/client.hpp"

namespace dasgd::test {
namespace {

using nlohmann::json;

class MpiWatch : public MpiApp {
 protected:
  /// The port that the run says it listens at.
  unsigned short port_of(const Process& process) {
    std::smatch found;
    std::string output;
    const bool listens = eventually([&] {
      output = process.said();
      return std::regex_search(output, found,
                               std::regex("watch the run at http://[0-9.]+:([0-9]+)"));
    });
    return listens ? static_cast<unsigned short>(std::stoi(found[1])) : 0;
  }

  /// The newest state of the page.
  json frame(unsigned short port) {
    const Client client(port);
    client.send("GET /events HTTP/1.1\r\nHost: " + local(port) + "\r\n\r\n");
    const std::string answer = client.receive("\n\n");
    const auto from = answer.find("data: {");
    if (from == answer.npos) return {};
    return json::parse(answer.substr(from + 6, answer.find('\n', from) - from - 6), nullptr, false);
  }

  /// Workers whose applications are on the page.
  std::size_t workers_seen(const json& frame) {
    if (!frame.is_object() || !frame["run"].contains("trace")) return 0;
    std::size_t seen = 0;
    for (const json& row : frame["run"]["trace"]["time_lines"]["rows"])
      seen += row["bars"].empty() || row["ticks"].empty() ? 0 : 1;
    return seen;
  }

  void expect_everybody_on_the_page(const std::string& more) {
    const Process process(command(4,
                                  "train --model quadratic --lr 1e-5 --compute "
                                  "1ms --max-time 10min --watch 0 --out " +
                                      out() + " " + more));
    const unsigned short port = port_of(process);
    ASSERT_NE(port, 0);
    EXPECT_TRUE(eventually([&] { return workers_seen(frame(port)) == 4; }));
    EXPECT_TRUE(eventually([&] {
      const std::string metrics = ask(port, "GET /metrics");
      for (const char* worker : {"0", "1", "2", "3"})
        if (!std::regex_search(metrics, std::regex("worker_gradients_total\\{worker=\"" +
                                                   std::string(worker) + "\"\\} [1-9]")))
          return false;
      return true;
    }));
    process.signal(SIGUSR1);
    process.wait();
    EXPECT_EQ(summary()["stop_reason"], "interrupted");
  }
};

TEST_F(MpiWatch, ShowsTheWorkersOfEveryRank) { expect_everybody_on_the_page(""); }

TEST_F(MpiWatch, ShowsThemBesideATrace) {
  expect_everybody_on_the_page("--trace");
  EXPECT_EQ(check().status, 0);
}

}  // namespace
}  // namespace dasgd::test
