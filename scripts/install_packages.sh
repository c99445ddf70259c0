#!/bin/sh
# Installs the Debian packages of the named groups that are missing: build, torch, mpi, mpi-test, web, browser,
# data, cache, test, python, bench, lint, fuzz, deb, clean-root, site.
#   install_packages.sh [--list] GROUP...    --list only prints their names
# Works as root and with sudo. On another system it says what is needed and goes on.
set -eu

group() {
  case "$1" in
    build) echo "g++ cmake ninja-build make libcli11-dev libfmt-dev nlohmann-json3-dev
                 libtomlplusplus-dev libeigen3-dev librandom123-dev libxxhash-dev libzstd-dev zlib1g-dev
                 libpng-dev libjpeg62-turbo-dev libssl-dev libboost-dev" ;;
    # Not libopenblas0-serial: it gives wrong numbers to several threads at once.
    torch) echo "libtorch-dev libopenblas0-pthread" ;;
    mpi) echo "libopenmpi-dev openmpi-bin" ;;
    mpi-test) echo "libopenmpi-dev openmpi-bin libmpich-dev mpich" ;;
    # Node.js from elsewhere brings its own npm and does not live with Debian's.
    web) command -v npm >/dev/null || echo "nodejs npm" ;;
    browser) echo "chromium fonts-dejavu-core" ;;
    data) echo "dataset-fashion-mnist curl" ;;
    # The tests of a second MPI share what they compile with those of the first.
    cache) echo "ccache" ;;
    test) echo "libgtest-dev libgmock-dev librapidcheck-dev python3-torch python3-yaml pkg-config ccache openssl iproute2 nftables" ;;
    bench) echo "libbenchmark-dev python3-torch" ;;
    python) echo "python3-dev python3-venv python3-pip pybind11-dev python3-numpy python3-pytest" ;;
    lint) echo "clang-format clang-tidy" ;;
    fuzz) echo "clang libclang-rt-14-dev" ;;
    deb) echo "dpkg-dev debhelper dh-python lintian fakeroot pkg-config git" ;;
    clean-root) echo "mmdebstrap python3-yaml" ;;
    site) echo "mkdocs mkdocs-material doxygen" ;;
    *) echo "install_packages.sh: unknown group $1" >&2; exit 2 ;;
  esac
}

list=""
[ "${1:-}" = --list ] && { list=1; shift; }
wanted=""
for name in "$@"; do wanted="$wanted $(group "$name")"; done

[ -n "$list" ] && { echo $wanted; exit 0; }
if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "This is not a Debian system. Needed (Debian names):" $wanted >&2
  exit 0
fi

missing=""
for package in $wanted; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' ||
    missing="$missing $package"
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=""
elif command -v sudo >/dev/null; then
  as_root="sudo"
else
  echo "Missing packages; as root run: apt-get install$missing" >&2
  exit 1
fi
echo "Installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086  # one word per package
$as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
