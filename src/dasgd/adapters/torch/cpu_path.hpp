// How LibTorch computes on a CPU here: which of its implementations is the fast one.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace dasgd::torch_adapter {

/// One compute thread per caller; convolutions by oneDNN, unless BLAS computes a gradient clearly
/// faster on this machine (Debian's oneDNN takes 3.5 times as long as OpenBLAS on arm64). Both are
/// settings of LibTorch for the whole process, so the first network decides. `gradient_of` computes
/// a gradient of so many samples: few where that takes long, up to an ordinary batch. Returns what
/// was chosen.
std::string settle_cpu_path(const std::function<void(std::size_t)>& gradient_of);

/// The calling thread computes without helpers from now on. LibTorch keeps the number of threads
/// for each thread; without this oneDNN starts one for every core beside each worker, and they
/// idle.
void compute_alone();

}  // namespace dasgd::torch_adapter
