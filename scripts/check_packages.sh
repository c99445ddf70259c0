#!/bin/bash
# Installs the packages into a clean Debian 12, uses them as a person would, purges them, and compares the files before and
# after. Needs root, and the package mirror of this system.
#   check_packages.sh [PACKAGE_DIR]    default: build/packages
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$(cd "${1:-build/packages}" && pwd)
here=$PWD
root=$(mktemp -d /var/tmp/dasgd-root.XXXXXX)
began=$SECONDS
trap 'umount "$root/proc" "$root/sys" "$root/dev/pts" "$root/dev" 2>/dev/null; rm -rf --one-file-system "$root"' EXIT
say() { printf '%4d s  %s\n' $((SECONDS - began)) "$*"; }
fail() { echo "check_packages.sh: $*" >&2; exit 1; }
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp/home LC_ALL=C.UTF-8 \
  DEBIAN_FRONTEND=noninteractive OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 bash -euo pipefail -c "$1"; }
install() { inside "apt-get install -y -qq --no-install-recommends $* >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }"; }
# What the system itself keeps about packages is not a trace of ours.
files() { (cd "$root" && find . -xdev \( -path ./tmp -o -path ./proc -o -path ./sys -o -path ./dev -o -path ./var/cache \
  -o -path ./var/log -o -path ./var/lib/apt -o -path './var/lib/dpkg/*-old' -o -path ./packages \) -prune -o -print | sort); }

say "a clean root"
sources=$(mktemp)
cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -v '^#' >"$sources" || true
mmdebstrap --quiet --variant=apt --dpkgopt=force-unsafe-io --include=ca-certificates bookworm "$root" - <"$sources"
rm -f "$sources"
for system in proc sys dev dev/pts; do mount --bind "/$system" "$root/$system"; done
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir -p "$root/packages" "$root/tmp/home"
cp "$packages"/*.deb "$root/packages"
inside "apt-get update -qq"

say "dasgd alone: no LibTorch, no MPI"
install /packages/dasgd_*.deb dataset-fashion-mnist
inside "dpkg-query -W | grep -E '^(lib)?(torch|openmpi|mpich)' && exit 1 || true"
inside "cd /tmp && rm -rf alone && dasgd train --workers 2 --trace --out alone && dasgd check alone && test -s alone/report.html"
inside "cd /tmp && (dasgd train --model mlp --out no 2>&1 || true) | grep dasgd-networks"
inside "cd /tmp && dasgd --version"

say "what the others need, and a compiler"
others=$(for deb in "$packages"/*.deb; do dpkg-deb -f "$deb" Depends; done | tr ',' '\n' | sed 's/([^)]*)//; s/|.*//; s/ //g' |
  grep -v '^dasgd$' | sort -u | tr '\n' ' ')
install "$others" man-db bash-completion zsh fish g++ make cmake pkg-config
inside "apt-get purge -y -qq dasgd >/dev/null"
files >"$root/tmp/before"

say "all packages"
inside "dpkg -i /packages/*.deb >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; exit 1; }"

say "train, networks, ranks"
inside "cd /tmp && dasgd train --workers 2 --epochs 1 --quiet --out plain && dasgd report --text plain >report.txt"
inside "cd /tmp && dasgd train --model cnn --workers 2 --total-gradients 20 --quiet --out cnn && test -s cnn/model.pt"
inside "cd /tmp && mpirun --oversubscribe -n 2 dasgd train --total-gradients 50 --quiet --out ranks && grep -q '\"workers\": *2' ranks/summary.json"

say "the example of the README by find_package and by pkg-config"
mkdir -p "$root/tmp/example"
awk '/^```cpp/ { inside = 1; next } /^```/ { if (inside) exit } inside' README.md >"$root/tmp/example/main.cpp"
cat >"$root/tmp/example/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(example LANGUAGES CXX)
find_package(dasgd REQUIRED)
add_executable(your_program main.cpp)
target_link_libraries(your_program PRIVATE dasgd::dasgd)
END
inside "cd /tmp/example && cmake -B build >/dev/null && cmake --build build >/dev/null && build/your_program"
inside "cd /tmp/example && g++ -O1 main.cpp \$(pkg-config --cflags --libs dasgd) -o by_hand && ./by_hand" |
  grep 'minimum near (1.00, 1.00)' || fail "the example does not find its minimum"

say "Python"
inside "cd /tmp && python3 -c 'import dasgd
r = dasgd.train(model=\"quadratic\", workers=2, gradients=50, lr=0.005, out=\"python\")
print(dasgd.__version__, r.summary[\"gradients\"], r.summary[\"replicas_identical\"])
dasgd.train(model=\"mlp\", data=\"fashion-mnist\", workers=2, total_gradients=10, out=\"python-mlp\")'"

say "man pages and completion"
[ -e "$root/usr/share/man/man1/dasgd-train.1.gz" ] || fail "there is no page dasgd-train"
inside "MANWIDTH=100 man dasgd-train >/tmp/page && grep -- '--total-gradients N' /tmp/page"
inside "bash -ic '. /usr/share/bash-completion/bash_completion; _completion_loader dasgd; COMP_WORDS=(dasgd train --tot);
  COMP_CWORD=2; _dasgd; echo \"bash: \${COMPREPLY[*]}\"' 2>/dev/null" | grep 'bash: --total-gradients'
inside "fish -c 'complete -C \"dasgd train --tot\"'" | sed 's/^/fish: /' | grep -- '--total-gradients'
inside "zsh -n /usr/share/zsh/vendor-completions/_dasgd; zsh -fic 'autoload -Uz compinit && compinit -u && echo zsh: \$_comps[dasgd]' 2>/dev/null" |
  grep 'zsh: _dasgd'

say "purge"
inside "dpkg --purge \$(dpkg-query -W -f '\${Package} ' 'dasgd*' 'libdasgd-dev' 'python3-dasgd') >/dev/null"
inside "rm -rf /tmp/home/*"
files >"$root/tmp/after"
diff "$root/tmp/before" "$root/tmp/after" || fail "the purge left files behind"
say "done: nothing is left"
