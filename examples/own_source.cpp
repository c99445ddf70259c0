// A source of samples of your own. Worker 1 has none until somebody says so; worker 0 does not
// wait.
#include <cstdio>
#include <functional>
#include <mutex>
#include <utility>

#include <dasgd/dasgd.hpp>

/// Shut until some thread opens it.
class Door {
 public:
  explicit Door(bool open) : open_(open) {}
  bool is_open() const {
    const std::lock_guard lock(mutex_);
    return open_;
  }
  void on_opening(std::function<void()> call) {
    const std::lock_guard lock(mutex_);
    call_ = std::move(call);
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    if (call_) call_();  // a worker that found nothing asks again
  }

 private:
  mutable std::mutex mutex_;  // guards the rest
  bool open_;
  std::function<void()> call_;
};

/// `count` samples, as soon as the door is open; then `at_the_end` is called.
class Behind final : public dasgd::SampleSource {
 public:
  Behind(Door& door, int count, std::function<void()> at_the_end)
      : door_(door), left_(count), at_the_end_(std::move(at_the_end)) {}

  dasgd::Draw next() override {  // never blocks
    if (!door_.is_open()) return dasgd::Draw::none_now();
    if (left_ > 0) {
      --left_;
      return dasgd::Draw::batch(row_);
    }
    at_the_end_();
    return dasgd::Draw::no_more();
  }
  void on_arrival(std::function<void()> wake) override { door_.on_opening(std::move(wake)); }

 private:
  Door& door_;
  int left_;
  std::function<void()> at_the_end_;
  const std::vector<std::uint32_t> row_{0};
};

int main() {
  Door open(true), shut(false);
  dasgd::TrainOptions options{.workers = 2, .eta = 0.005};
  options.make_samples = [&](dasgd::WorkerId worker,
                             std::uint64_t) -> std::unique_ptr<dasgd::SampleSource> {
    if (worker == dasgd::WorkerId{0})
      return std::make_unique<Behind>(open, 400, [&] {
        std::puts("worker 0 has made its 400 gradients; now worker 1 gets samples");
        shut.open();
      });
    return std::make_unique<Behind>(shut, 100, [] { std::puts("worker 1 has made its 100"); });
  };
  const auto result = dasgd::train(dasgd::Quadratic::random(1), options);
  std::printf("%u + %u gradients, %llu lost, replicas identical: %s\n",
              result.summary.gradients_by_worker[0], result.summary.gradients_by_worker[1],
              static_cast<unsigned long long>(result.summary.lost),
              result.summary.replicas_identical ? "yes" : "no");
}
