// Whether MPI knows the memory of GPUs.
#pragma once

namespace dasgd::mpi {

/// Whether messages may begin and end in the memory of a GPU: this MPI was built for that, and
/// nobody has switched it off. While MPI is there.
bool is_cuda_aware();

}  // namespace dasgd::mpi
