#!/bin/sh
# Checks networks on GPUs: the exact replica bit for bit, training with several workers, speeds.
#   check_cuda.sh LIBTORCH    the directory of a LibTorch with CUDA (what CMAKE_PREFIX_PATH takes)
set -eu
libtorch=${1:?usage: check_cuda.sh LIBTORCH}
cd "$(dirname "$0")/.."
build=build/cuda
cmake -G Ninja -B $build -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$libtorch" -DDASGD_TORCH=ON \
      -DDASGD_BUILD_EXAMPLES=OFF >/dev/null
cmake --build $build --target dasgd_app adapters_tests
$build/adapters_tests --gtest_brief=1
$build/adapters_tests --gtest_list_tests | grep -A2 OnDevice | grep -q '/1' ||
  { echo "check_cuda.sh: LibTorch sees no GPU here" >&2; exit 1; }

# The same run on the CPU and on GPUs; every worker's replica is audited bit for bit.
for run in "cpu 2" "cuda 1" "cuda 2" "cuda 4"; do
  set -- $run
  $build/dasgd train --model cnn --data fashion-mnist --device "$1" --workers "$2" --epochs 2 --quiet \
               --out runs/cuda-check/"$1-$2"
  python3 - "$1" "$2" runs/cuda-check/"$1-$2"/summary.json <<'PYTHON'
import json, sys
s = json.load(open(sys.argv[3]))
assert s["replicas_identical"] and s["lost"] == 0 and s["duplicated"] == 0
print(f"{sys.argv[1]:<5} {sys.argv[2]} workers: {s['samples'] / max(s['time']) * 1e9:9.0f} images/s, "
      f"accuracy {s['accuracy']:.4f}, replicas identical")
PYTHON
done
