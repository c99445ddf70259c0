#include "dasgd/archive/result_files.hpp"

#include <fmt/format.h>
#include <span>
#include <type_traits>

#include "dasgd/models/network_problem.hpp"
#include "dasgd/record/atomic_file.hpp"
#include "dasgd/record/npy.hpp"

namespace dasgd {

void Salvage::finish() const {
  if (missing_.empty()) return;
  if (missing_.size() == 1) throw WriteError(why_);
  throw WriteError(fmt::format("{}; not written: {}", why_, fmt::join(missing_, ", ")));
}

template <typename Real>
void save_result(const Objective<Real>& objective, const TrainResult<Real>& result,
                 const RunDirectory& directory, BestModel& best, Salvage& salvage) {
  const std::span<const Real> x = result.model;
  salvage.save("model.npy", [&] { write_file(directory.file("model.npy"), to_npy<Real>(x)); });
  salvage.save("summary.json",
               [&] { write_file(directory.file("summary.json"), to_json(result.summary)); });
  if constexpr (std::is_same_v<Real, float>)
    salvage.save("model.pt", [&] {
      if (const auto bytes = torchscript_of(objective, x))
        write_file(directory.file("model.pt"), *bytes);
    });
  if (!result.best_model.empty())
    salvage.save("model.best.npy",
                 [&] { best.write<Real>(*result.summary.best, result.best_model); });
}

template void save_result(const Objective<float>&, const TrainResult<float>&, const RunDirectory&,
                          BestModel&, Salvage&);
template void save_result(const Objective<double>&, const TrainResult<double>&, const RunDirectory&,
                          BestModel&, Salvage&);

}  // namespace dasgd
