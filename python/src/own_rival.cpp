#include "own_rival.hpp"

#include <optional>
#include <pybind11/stl.h>
#include <string>
#include <utility>

#include "numbers.hpp"

namespace dasgd::python {
namespace {

namespace py = pybind11;

/// A port as Python holds it: good while its participant is called.
class RivalPort {
 public:
  virtual ~RivalPort() = default;
  virtual void compute(const py::buffer& point) = 0;
  virtual void cancel() = 0;
  virtual void send(std::size_t to, const std::optional<py::buffer>& numbers, std::uint64_t version,
                    std::uint32_t tag, double weight) = 0;
  virtual void charge(double passes) = 0;
  virtual void discard(std::uint64_t gradients) = 0;
  virtual void updating(const py::buffer& model, const py::buffer& gradients) = 0;
  virtual double now() = 0;
  virtual double random() = 0;
};

template <typename Real>
class PortOf final : public RivalPort {
 public:
  Port<Real>* port = nullptr;  ///< null between two calls

  // A simulation computes the gradient at once.
  void compute(const py::buffer& point) override {
    const py::buffer_info info = point.request();
    const auto numbers = numbers_of<Real>(info);
    Port<Real>& now = here();
    const py::gil_scoped_release free;
    now.compute(numbers);
  }
  void cancel() override { here().cancel(); }
  void send(std::size_t to, const std::optional<py::buffer>& numbers, std::uint64_t version,
            std::uint32_t tag, double weight) override {
    RivalMessage<Real> letter{.version = version, .tag = tag, .weight = weight};
    if (numbers) letter.numbers = share<Real>(numbers_of<Real>(numbers->request()));
    here().send(to, std::move(letter));
  }
  void charge(double passes) override {
    if (!(passes >= 0)) throw InputError("charge takes passes of at least 0");
    here().charge(passes);
  }
  void discard(std::uint64_t gradients) override { here().discard(gradients); }
  void updating(const py::buffer& model, const py::buffer& gradients) override {
    const py::buffer_info of_model = model.request(), of_gradients = gradients.request();
    here().updating(numbers_of<Real>(of_model), numbers_of<Real>(of_gradients));
  }
  double now() override { return static_cast<double>(here().now()) * 1e-9; }
  double random() override { return here().random().uniform(); }

 private:
  Port<Real>& here() const {
    if (!port) throw InputError("a port can be used while start, computed or received run");
    return *port;
  }
};

/// One participant; takes the GIL whenever it is called.
template <typename Real>
class OwnRival final : public Rival<Real> {
 public:
  OwnRival(py::object asked, std::shared_ptr<PortOf<Real>> port, std::size_t size,
           std::shared_ptr<OwnFailure> failure)
      : asked_(std::move(asked)),
        port_(std::move(port)),
        size_(size),
        failure_(std::move(failure)) {
    take_model();
  }
  ~OwnRival() override {
    const py::gil_scoped_acquire acquire;
    asked_ = {};
    port_ = {};
  }

  void start(Port<Real>& port) override {
    call(port, [&] { asked_.attr("start")(); });
  }
  void computed(Port<Real>& port, std::span<const Real> gradient, double loss) override {
    call(port, [&] { asked_.attr("computed")(own_numbers(gradient), loss); });
  }
  void received(Port<Real>& port, const RivalMessage<Real>& letter) override {
    call(port, [&] {
      py::object numbers = py::none();
      if (letter.numbers) numbers = py::cast(own_numbers(std::span<const Real>(*letter.numbers)));
      asked_.attr("received")(numbers, letter.version, letter.tag, letter.weight, letter.from);
    });
  }
  std::span<const Real> model() const override { return model_; }
  std::size_t kept() const override {
    const py::gil_scoped_acquire acquire;
    return asked_.attr("kept")().template cast<std::size_t>();
  }

 private:
  template <typename Call>
  void call(Port<Real>& port, Call call) {
    const py::gil_scoped_acquire acquire;
    port_->port = &port;
    try {
      call();
      take_model();
    } catch (...) {
      port_->port = nullptr;
      failure_->note(std::current_exception());
      throw;
    }
    port_->port = nullptr;
  }
  void take_model() {
    const py::object model = asked_.attr("model")();
    model_.clear();
    if (model.is_none()) return;
    const py::buffer_info info = model.cast<py::buffer>().request();
    const auto numbers = numbers_of<Real>(info);
    if (numbers.size() != size_)
      throw InputError("the model of a rival has " + std::to_string(numbers.size()) +
                       " numbers; its start has " + std::to_string(size_));
    model_.assign(numbers.begin(), numbers.end());
  }

  py::object asked_;
  std::shared_ptr<PortOf<Real>> port_;
  const std::size_t size_;
  const std::shared_ptr<OwnFailure> failure_;
  std::vector<Real> model_;  // as it was after the last call
};

template <typename Real>
Participants<Real> make(py::handle kind, const RivalSetup<Real>& setup,
                        const std::shared_ptr<OwnFailure>& failure) {
  const py::gil_scoped_acquire acquire;
  try {
    std::vector<std::vector<std::size_t>> neighbours(setup.workers());
    for (std::size_t i = 0; i < setup.workers(); ++i)
      for (const WorkerId other : setup.graph.neighbours(worker_id(i)))
        neighbours[i].push_back(index(other));
    const std::size_t all = setup.workers() + kind.attr("servers").cast<std::size_t>();
    Participants<Real> participants;
    for (std::size_t i = 0; i < all; ++i) {
      const auto& start = setup.start_of(i < setup.workers() ? i : 0);
      auto port = std::make_shared<PortOf<Real>>();
      py::object asked =
          kind.attr("make")(i, setup.workers(), setup.eta, own_numbers(start), setup.numbers,
                            neighbours, std::static_pointer_cast<RivalPort>(port));
      participants.push_back(
          std::make_unique<OwnRival<Real>>(std::move(asked), port, start.size(), failure));
    }
    return participants;
  } catch (...) {
    failure->note(std::current_exception());
    throw;
  }
}

RivalKind own_rival(const py::handle& given, const std::shared_ptr<OwnFailure>& failure) {
  RivalKind kind{.name = given.attr("name").cast<std::string>(),
                 .summary = given.attr("summary").cast<std::string>(),
                 .exchanges = given.attr("exchanges").cast<std::string>(),
                 .linear = given.attr("linear").cast<bool>(),
                 .edition = given.attr("edition").cast<std::string>()};
  const auto tuned = given.attr("tuned").cast<std::string>();
  for (const auto& [key, value] : given.attr("parameters").cast<py::dict>()) {
    const auto name = key.cast<std::string>();
    const auto usual = value.cast<double>();
    kind.parameters.push_back({.name = name,
                               .usual = usual,
                               .least = name == tuned && usual >= 1 ? 1.0 : 0.0,
                               .whole = py::isinstance<py::int_>(value),
                               .tuned = name == tuned});
  }
  return made_by(std::move(kind),
                 [given, failure](const auto& setup) { return make(given, setup, failure); });
}

}  // namespace

std::vector<RivalKind> own_rivals(const py::list& kinds,
                                  const std::shared_ptr<OwnFailure>& failure) {
  std::vector<RivalKind> own;
  for (const py::handle kind : kinds) own.push_back(own_rival(kind, failure));
  return own;
}

void add_rival_port(py::module_& module) {
  py::class_<RivalPort, std::shared_ptr<RivalPort>>(module, "RivalPort")
      .def("compute", &RivalPort::compute)
      .def("cancel", &RivalPort::cancel)
      .def("send", &RivalPort::send)
      .def("charge", &RivalPort::charge)
      .def("discard", &RivalPort::discard)
      .def("updating", &RivalPort::updating)
      .def("now", &RivalPort::now)
      .def("random", &RivalPort::random);
}

}  // namespace dasgd::python
