#include "dasgd/transport/mpi/cuda_aware.hpp"

#include <mpi.h>
#include <optional>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace dasgd::mpi {
namespace {

// Not MPIX_CUDA_AWARE_SUPPORT itself: the MPI that runs need not be the one of the build.
bool mpi_says_so() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#elif defined(MPIX_GPU_SUPPORT_CUDA)
  int supported = 0;
  return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &supported) == MPI_SUCCESS && supported != 0;
#else
  return false;
#endif
}

// Of Open MPI 4, which answers as it was built also when it was switched off (--mca
// opal_cuda_support 0) or found no driver: its variable says so. Other implementations have no
// variable of that name.
std::optional<bool> variable_says_so() {
  std::optional<bool> answer;
  int provided = 0, index = 0, count = 0;
  if (MPI_T_init_thread(MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) return answer;
  MPI_T_cvar_handle handle = nullptr;
  if (MPI_T_cvar_get_index("opal_cuda_support", &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
    bool value = false;
    if (count == 1 && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS) answer = value;
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return answer;
}

}  // namespace

bool is_cuda_aware() {
  const auto answer = variable_says_so();
  return answer ? *answer : mpi_says_so();
}

}  // namespace dasgd::mpi
