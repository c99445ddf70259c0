// The functions of `Ranks` that the program uses; included once, behind their definitions.
#pragma once

#include "ranks/ranks.hpp"

namespace dasgd::app {

template std::optional<TrainResult<float>> Ranks::train_on_first(std::size_t,
                                                                 const Objective<float>&,
                                                                 const TrainOptions&,
                                                                 const Config&);

template PlayResult Ranks::perform(const Objective<float>&, const ChosenRival&, const TrainOptions&,
                                   const VirtualWorld&, const PlayOptions&, const Observer<float>*);
template PlayResult Ranks::perform(const Objective<double>&, const ChosenRival&,
                                   const TrainOptions&, const VirtualWorld&, const PlayOptions&,
                                   const Observer<double>*);

template std::optional<TrainResult<float>> Ranks::train(const Objective<float>&,
                                                        const TrainOptions&, const Config&,
                                                        const std::vector<Callback<float>>&);
template std::optional<TrainResult<double>> Ranks::train(const Objective<double>&,
                                                         const TrainOptions&, const Config&,
                                                         const std::vector<Callback<double>>&);

}  // namespace dasgd::app
