// What has to be known of the BLAS library behind LibTorch: OpenBLAS asks for some care.
#pragma once

#include <c10/core/Device.h>
#include <mutex>

namespace dasgd::torch_adapter {

/// One thread per caller: more would take the cores of other workers.
void one_blas_thread();

/// OpenBLAS as a library without threads (Debian's libopenblas0-serial) has one workspace for all
/// callers and no lock: two at a time get wrong numbers, and no error.
bool blas_is_serial();

/// Held by whoever computes: with a serial OpenBLAS one thread at a time does. With any other
/// library, and on a GPU, this locks nothing.
std::unique_lock<std::mutex> alone_if_blas_is_serial(const c10::Device& device);

/// Whether it is OpenBLAS, with buffers that can be asked for.
bool blas_has_buffers();

/// A thread that may compute while others do. OpenBLAS takes a large buffer for each of them, when
/// they first meet, and tries for ever where there is no memory. So there are as many buffers as
/// callers before they compute: to be made where nobody computes yet. Without memory the
/// constructor throws std::bad_alloc.
class BlasCaller {
 public:
  BlasCaller();
  ~BlasCaller();
  BlasCaller(const BlasCaller&) = delete;
  BlasCaller& operator=(const BlasCaller&) = delete;
};

}  // namespace dasgd::torch_adapter
