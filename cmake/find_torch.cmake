# Neural networks need LibTorch: Debian's libtorch-dev, or another one named by CMAKE_PREFIX_PATH.
# Sanitizers leave it out: its threads and OpenMP are not built for them.
if(DASGD_TORCH STREQUAL "AUTO" AND DASGD_SANITIZE)
  set(DASGD_TORCH OFF)
elseif(DASGD_TORCH STREQUAL "AUTO")
  find_package(Torch QUIET)
  set(DASGD_TORCH ${Torch_FOUND})
elseif(DASGD_TORCH)
  find_package(Torch REQUIRED)
endif()
if(DASGD_TORCH AND TORCH_CXX_FLAGS MATCHES "CXX11_ABI=0")
  message(FATAL_ERROR "This LibTorch has the old C++ ABI; take the one with the cxx11 ABI, or -DDASGD_TORCH=OFF")
endif()
if(DASGD_TORCH)
  message(STATUS "Neural networks: LibTorch ${Torch_VERSION}")
else()
  message(STATUS "Neural networks: off, without LibTorch (Debian: libtorch-dev); --model cnn, mlp, "
                 "resnet18, char-transformer and FILE.pt will say so")
endif()
