#include "dasgd/archive/result_files.hpp"

#include <span>
#include <type_traits>

#include "dasgd/archive/samples_file.hpp"
#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/data/preprocessing.hpp"
#include "dasgd/models/network_problem.hpp"
#include "dasgd/models/predict.hpp"
#include "dasgd/record/npy.hpp"

namespace dasgd {

constexpr std::size_t shown_at_most = 24;

template <typename Real>
void save_result(const Objective<Real>& objective, const TrainResult<Real>& result,
                 const RunDirectory& directory, BestModel& best, WriteAll& write) {
  const std::span<const Real> x = result.model;
  write("the model", [&] { write_file(directory.file("model.npy"), to_npy<Real>(x)); });
  write("summary.json",
        [&] { write_file(directory.file("summary.json"), to_json(result.summary)); });
  if constexpr (std::is_same_v<Real, float>) {
    write("model.pt", [&] {
      if (const auto bytes = torchscript_of(objective, x))
        write_file(directory.file("model.pt"), *bytes);
    });
    if (const auto* const model = dynamic_cast<const ShowsSamples*>(&objective))
      write("samples.json", [&] {
        if (const auto samples = model->shown(x, shown_at_most); !samples.empty())
          write_file(directory.file("samples.json"), samples_json(samples));
      });
  }
  const auto* const holder = dynamic_cast<const HoldsSamples*>(&objective);
  if (const auto* const samples = holder ? holder->prepared() : nullptr)
    write("worst.json", [&] {
      if (result.failure) return;  // there is no model worth asking
      const auto model = open_predictor(directory.path());
      if (const auto worst = worst_json(*samples, *model))
        write_file(directory.file("worst.json"), *worst);
    });
  if (!result.best_model.empty())
    write("the best model",
          [&] { best.write<Real>(objective, *result.summary.best, result.best_model); });
}

template <typename Real>
void save_preprocessing(const Objective<Real>& objective, const RunDirectory& directory) {
  const auto* const known = dynamic_cast<const Preprocessed*>(&objective);
  if (const auto* const p = known ? known->preprocessing() : nullptr)
    write_file(directory.file("preprocessing.json"), to_json(*p));
}

template void save_preprocessing(const Objective<float>&, const RunDirectory&);
template void save_preprocessing(const Objective<double>&, const RunDirectory&);
template void save_result(const Objective<float>&, const TrainResult<float>&, const RunDirectory&,
                          BestModel&, WriteAll&);
template void save_result(const Objective<double>&, const TrainResult<double>&, const RunDirectory&,
                          BestModel&, WriteAll&);

}  // namespace dasgd
