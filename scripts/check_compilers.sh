#!/bin/bash
# Builds the program, without LibTorch and MPI, with the clang of this system, and with the GCC of Debian 13 in a root of
# its own; trains with both. The second needs root and a package mirror.
#   check_compilers.sh [clang] [debian13]    default: both
set -euo pipefail
cd "$(dirname "$0")/.."
options="-G Ninja -DCMAKE_UNITY_BUILD=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DDASGD_TORCH=OFF -DDASGD_MPI=OFF"
options="$options -DDASGD_BUILD_TESTS=OFF -DDASGD_BUILD_EXAMPLES=OFF -DDASGD_NPM=OFF"
try="train --model quadratic --workers 2 --total-gradients 100 --lr 0.002 --trace --quiet --out run"

quietly() { "$@" >build/compilers.log || { tail -n 30 build/compilers.log; exit 1; }; }

clang() {
  cmake -B build/clang $options -DCMAKE_CXX_COMPILER=clang++ >/dev/null
  quietly cmake --build build/clang -j "${JOBS:-$(nproc)}" --target dasgd_app
  (cd build/clang && rm -rf run && ./dasgd $try && ./dasgd check run)
  echo "$(clang++ --version | head -n 1): builds, trains"
}

debian13() {
  local needed
  root=$(mktemp -d /var/tmp/dasgd-trixie.XXXXXX)
  trap 'umount "$root/proc" "$root/dev" "$root/src" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
  needed=$(scripts/install_packages.sh --list build | tr ' ' ',')
  mmdebstrap --quiet --variant=apt --include="$needed" trixie "$root"
  mkdir "$root/src"
  mount --bind "$PWD" "$root/src"
  for system in proc dev; do mount --bind "/$system" "$root/$system"; done
  chroot "$root" bash -euc "cmake -S /src -B /build $options >/dev/null; cmake --build /build -j ${JOBS:-$(nproc)} --target dasgd_app >/log || { tail -n 30 /log; exit 1; }
    cd /build; ./dasgd $try; ./dasgd check run; echo \"\$(g++ --version | head -n 1): builds, trains\""
}

for which in "${@:-clang debian13}"; do for each in $which; do $each; done; done
