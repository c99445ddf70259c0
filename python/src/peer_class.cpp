#include "peer_class.hpp"

#include <cstring>
#include <pybind11/stl.h>
#include <unistd.h>

#include "arguments.hpp"
#include "dasgd/base/digest.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/members/ask_settings.hpp"
#include "dasgd/members/launched.hpp"
#include "dasgd/members/train_member.hpp"
#include "dasgd/runtime/peer.hpp"
#include "numbers.hpp"
#include "ranks.hpp"
#include "waiting.hpp"

namespace dasgd::python {
namespace {

namespace py = pybind11;
std::string bytes_of(std::span<const float> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

// Replicas are a start and a sum: those who join must have the same start.
std::string fact_of(std::span<const float> start) {
  return "parameters at the start: " + digest_of(std::as_bytes(start)) + "\n";
}

void require_same_start(const members::MemberOptions& member) {
  const auto run = members::ask_settings(member, members::join_limit);
  if (run->facts.find(member.facts) == std::string::npos)
    throw InputError(
        "cannot join: the run began with other parameters; seed the generator (torch.manual_seed) "
        "before the network is made, or load the same file");
}

/// A `Peer` alone, on a rank, or as a member of an elastic run. Its process may fork: what the
/// child gets of it is not touched.
class PythonPeer {
 public:
  PythonPeer(const py::buffer& start, const py::dict& keywords, std::size_t batch)
      : ranks_(Ranks::of_process()), launched_(members::Launched::from_environment()) {
    config::Config config = read_peer_settings(keywords);
    TrainOptions options = config.run;
    if (!config.lr) throw InputError("a peer needs a step size: lr");
    options.eta = *config.lr;
    options.workers = ranks_.size();
    options.checkpoint.every = {};
    const auto silence =
        std::chrono::duration_cast<std::chrono::milliseconds>(config.ranks.timeout);
    const py::buffer_info info = start.request();
    const std::span<const float> own = numbers_of<float>(info);
    if (launched_) {
      become_member(own, options, batch);
      return;
    }
    const py::gil_scoped_release release;
    peer_ = std::make_unique<Peer<float>>(
        same_start(own), options, batch,
        [this, silence](const Objective<float>& f, const TrainOptions& all) {
          auto result = ranks_.train(f, all, false, silence);
          // Every rank tells the same of the run.
          summary_ = ranks_.broadcast(result ? to_json(result->summary) : "");
          return result;
        });
  }
  ~PythonPeer() {
    const py::gil_scoped_release release;
    if (process_ != ::getpid()) {
      static_cast<void>(peer_.release());
    } else {
      peer_.reset();
    }
  }

  /// The replica itself.
  Numbers x() {
    const auto x = peer_->x();
    return {const_cast<float*>(x.data()), sizeof(float), static_cast<py::ssize_t>(x.size()),
            py::format_descriptor<float>::format()};
  }

  bool x_is_the_replicas() const {
    require_process();
    const py::gil_scoped_release release;
    return peer_->x_is_the_replicas();
  }

  bool step(const py::buffer& gradient, double loss) {
    require_process();
    const py::buffer_info info = gradient.request();
    const auto g = numbers_of<float>(info);
    const py::gil_scoped_release release;
    return peer_->step(g, loss);
  }

  std::string finish() {
    require_process();
    std::stop_source stop;
    const std::stop_callback end(stop.get_token(), [this] { peer_->request_stop(); });
    without_gil(stop, [this] { peer_->finish(); });
    return summary_;
  }

  /// Of the whole run, once `step` was false; empty where it failed.
  const std::string& summary() const { return summary_; }

  /// Ends the run everywhere, and waits for that.
  void close() {
    if (process_ != ::getpid()) return;
    const py::gil_scoped_release release;
    peer_->close();
  }

  /// The mean over all ranks; after the end of the run.
  Numbers mean(const py::buffer& array) {
    const std::string own = bytes_of(numbers_of<float>(array.request()));
    std::vector<double> sum(own.size() / sizeof(float), 0.0);
    std::vector<std::string> all;
    {
      const py::gil_scoped_release release;
      all = ranks_.gather(own);
    }
    for (const std::string& bytes : all) {
      if (bytes.size() != own.size())
        throw InputError("ranks have buffers of different sizes; their models must be the same");
      for (std::size_t i = 0; i < sum.size(); ++i) {
        float value = 0;
        std::memcpy(&value, bytes.data() + i * sizeof(float), sizeof(float));
        sum[i] += value;
      }
    }
    std::vector<float> result;
    for (const double s : sum)
      result.push_back(static_cast<float>(s / static_cast<double>(all.size())));
    return own_numbers(std::move(result));
  }

  /// Nothing where members come and go.
  std::optional<std::size_t> rank() const {
    return launched_ ? std::nullopt : std::optional(ranks_.rank());
  }
  std::optional<std::size_t> size() const {
    return launched_ ? std::nullopt : std::optional(ranks_.size());
  }

 private:
  void require_process() const {
    if (process_ != ::getpid())
      throw InputError("this peer belongs to the process that made it, not to a fork of it");
  }

  void become_member(std::span<const float> own, TrainOptions options, std::size_t batch) {
    if (std::filesystem::exists(launched_->directory / "address"))
      throw InputError("a process is one member of an elastic run: it can have one peer");
    std::vector<float> x0(own.begin(), own.end());
    std::stop_source stop;
    options.stop = stop.get_token();
    options.workers = 1;
    without_gil(stop, [&] {
      members::MemberOptions member = members::member_options(*launched_, stop.get_token());
      member.facts = fact_of(x0);
      if (!member.contacts.empty()) require_same_start(member);
      member.say = [](const std::string& line) {
        std::fprintf(stderr, "dasgd: %s\n", line.c_str());
      };
      peer_ = std::make_unique<Peer<float>>(
          std::move(x0), options, batch,
          [this, member](const Objective<float>& f, const TrainOptions& all) {
            const auto taking_part = members::become_member<float>(f, all, member);
            auto result = members::train_member<float>(f, all, *taking_part);
            summary_ = to_json(result.summary);
            return std::optional(std::move(result));
          });
      members::tell_model_is_here(*launched_);
    });
  }

  // All begin where rank 0 does.
  std::vector<float> same_start(std::span<const float> own) {
    const auto sizes = ranks_.gather(std::to_string(own.size()));
    for (std::size_t r = 1; r < sizes.size(); ++r)
      if (sizes[r] != sizes[0])
        throw InputError("rank " + std::to_string(r) + " has a model of " + sizes[r] +
                         " parameters, rank 0 one of " + sizes[0] + "; they must be the same");
    const std::string first = ranks_.broadcast(ranks_.rank() == 0 ? bytes_of(own) : "");
    std::vector<float> start(own.size());
    std::memcpy(start.data(), first.data(), first.size());
    return start;
  }

  Ranks& ranks_;
  const std::optional<members::Launched> launched_;  // as a member of an elastic run
  const pid_t process_ = ::getpid();
  std::string summary_;
  std::unique_ptr<Peer<float>> peer_;
};

}  // namespace

void add_peer(py::module_& module) {
  py::class_<PythonPeer>(module, "Peer")
      .def(py::init<const py::buffer&, const py::dict&, std::size_t>(), py::arg("start"),
           py::arg("keywords"), py::arg("batch"))
      .def("x", &PythonPeer::x, py::keep_alive<0, 1>())
      .def("x_is_the_replicas", &PythonPeer::x_is_the_replicas)
      .def("step", &PythonPeer::step, py::arg("gradient"), py::arg("loss"))
      .def("finish", &PythonPeer::finish)
      .def("summary", &PythonPeer::summary)
      .def("close", &PythonPeer::close)
      .def("mean", &PythonPeer::mean, py::arg("array"))
      .def_property_readonly("rank", &PythonPeer::rank)
      .def_property_readonly("size", &PythonPeer::size);
  module.def(
      "leave_ranks",
      [](bool failed) {
        const py::gil_scoped_release release;
        Ranks::leave(failed);
      },
      py::arg("failed"));
}

}  // namespace dasgd::python
