#include "peer_class.hpp"

#include <pybind11/stl.h>
#include <unistd.h>

#include "dasgd/core/error.hpp"
#include "dasgd/transport/tcp/tls/token.hpp"
#include "free_gil.hpp"
#include "numbers.hpp"
#include "python_peer.hpp"
#include "ranks.hpp"
#include "waiting.hpp"

namespace dasgd::python {
namespace {

namespace py = pybind11;
using Values = std::vector<std::optional<std::string>>;

/// The GIL is free while `wait` waits, some milliseconds at a time, until it has an answer: none
/// where the process is about to end. A signal that Python turns into an exception calls
/// `on_interrupt`; the exception is thrown when there is an answer, or at once where
/// `on_interrupt` returns false.
template <typename Wait, typename Interrupted>
auto waited(Wait wait, Interrupted on_interrupt) {
  std::optional<py::error_already_set> interrupt;
  bool goes_on = true;
  decltype(wait()) answer;
  {
    const FreeGil free;
    if (!free) return answer;
    while (goes_on && !(answer = wait())) {
      if (interrupt || is_leaving()) continue;
      const py::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() == 0) continue;
      interrupt.emplace();
      goes_on = on_interrupt();
    }
  }
  if (interrupt) throw std::move(*interrupt);
  return answer;
}

Numbers x(PythonPeer& peer) {
  const auto numbers = peer.peer().x();
  return {const_cast<float*>(numbers.data()), sizeof(float),
          static_cast<py::ssize_t>(numbers.size()), py::format_descriptor<float>::format()};
}

Numbers shared_x(PythonPeer& peer) {
  peer.require_process();
  std::vector<float> model(peer.peer().x().size());
  peer.peer().copy_shared(model);
  return own_numbers(std::move(model));
}

bool step(PythonPeer& peer, const py::buffer& gradient, double loss,
          std::optional<std::size_t> samples) {
  peer.require_process();
  const py::buffer_info info = gradient.request();  // stays until there is an answer
  peer.peer().give(numbers_of<float>(info), loss, samples);
  const auto goes_on = waited([&] { return peer.peer().wait_for(std::chrono::milliseconds(50)); },
                              [&] {
                                peer.peer().request_stop();
                                return true;
                              });
  if (goes_on && !*goes_on) peer.peer().require_no_divergence();
  return goes_on.value_or(false);
}

std::string finish(PythonPeer& peer) {
  peer.require_process();
  std::stop_source stop;
  const std::stop_callback end(stop.get_token(), [&] { peer.peer().request_stop(); });
  without_gil(stop, [&] { peer.finish(); });
  return peer.summary();
}

void close(PythonPeer& peer) {
  if (!peer.is_of_process()) return;
  const FreeGil free;
  peer.close();
}

py::list gather(PythonPeer& peer, const std::string& value) {
  peer.require_process();
  Values values;
  if (peer.is_member()) {
    const FreeGil free;
    values = peer.exchange(value);
  } else if (peer.is_over()) {
    const FreeGil free;
    values = peer.gather_at_end('v', value);
  } else {
    const std::size_t round = peer.give(value);
    values = waited([&] { return peer.given(round, std::chrono::milliseconds(50)); },
                    [] { return false; })
                 .value_or(Values{});
  }
  py::list result;
  for (const auto& one : values)
    result.append(one ? py::object(py::bytes(*one)) : py::object(py::none()));
  return result;
}

Numbers mean(PythonPeer& peer, const py::buffer& array) {
  const py::buffer_info info = array.request();
  const auto own = numbers_of<float>(info);
  std::vector<float> result;
  {
    const FreeGil free;
    result = peer.mean(own);
  }
  return own_numbers(std::move(result));
}

// Whoever waits in here without the GIL could not get it back any more.
void leave(std::optional<unsigned> patience) {
  const py::gil_scoped_release release;
  leave_python();
  Ranks::leave(patience ? std::optional(std::chrono::seconds(*patience)) : std::nullopt);
}

}  // namespace

void add_peer(py::module_& module) {
  py::class_<PythonPeer>(module, "Peer")
      .def(py::init([](const py::buffer& start, const py::dict& keywords, std::size_t batch,
                       std::optional<PeerBefore> before, const std::string& optimizer) {
             const py::buffer_info info = start.request();
             return std::make_unique<PythonPeer>(numbers_of<float>(info), keywords, batch, before,
                                                 optimizer);
           }),
           py::arg("start"), py::arg("keywords"), py::arg("batch"), py::arg("before"),
           py::arg("optimizer"))
      .def("x", &x, py::keep_alive<0, 1>())
      .def("shared_x", &shared_x)
      .def("x_is_the_replicas",
           [](PythonPeer& peer) {
             peer.require_process();
             const FreeGil free;
             return peer.peer().x_is_the_replicas();
           })
      .def("step", &step, py::arg("gradient"), py::arg("loss"), py::arg("samples"))
      .def("stop", [](PythonPeer& peer) { peer.ask_to_end(); })
      .def("finish", &finish)
      .def("summary", &PythonPeer::summary)
      .def("close", &close)
      .def("mean", &mean, py::arg("array"))
      .def("gather", &gather, py::arg("value"))
      .def("log", &PythonPeer::log, py::arg("values"))
      .def_property_readonly("rank", &PythonPeer::rank)
      .def_property_readonly("size", &PythonPeer::size)
      .def_property_readonly("number", &PythonPeer::number)
      .def_property_readonly("name", &PythonPeer::name)
      .def_property_readonly("seed", &PythonPeer::seed)
      .def_property_readonly("is_first", &PythonPeer::is_first)
      .def_property_readonly("gradients", &PythonPeer::gradients)
      .def_property_readonly("samples", &PythonPeer::samples)
      .def_property_readonly("gradient_budget", &PythonPeer::gradient_budget)
      .def_property_readonly("max_seconds", &PythonPeer::max_seconds)
      .def_property_readonly("seconds", &PythonPeer::seconds)
      .def_property_readonly("directory", &PythonPeer::directory)
      .def_property_readonly("url", &PythonPeer::url);
  py::class_<PeerBefore>(module, "PeerBefore")
      .def(py::init<std::uint64_t, std::uint64_t, double>(), py::arg("gradients"),
           py::arg("samples"), py::arg("seconds"));
  module.def("begin_ranks", [] { Ranks::of_process(); });
  module.def(
      "write_token", [](const std::string& path) { tcp::write_token(path, tcp::Token::random()); },
      py::arg("path"));
  module.def("leave_ranks", &leave, py::arg("patience"));
}

}  // namespace dasgd::python
