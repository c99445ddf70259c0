#!/bin/bash
# Installs the packages into a clean Debian 12, uses them as a person would, purges them, and compares the files before and
# after. With packages of an earlier version, upgrades from those first. Needs root, and the package mirror of this system.
#   check_packages.sh [PACKAGE_DIR [EARLIER_PACKAGE_DIR]]    default: build/packages, and no earlier ones
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$(cd "${1:-build/packages}" && pwd)
earlier=${2:+$(cd "$2" && pwd)}
root=$(mktemp -d /var/tmp/dasgd-root.XXXXXX)
began=$SECONDS
trap 'umount "$root/proc" "$root/sys" "$root/dev/pts" "$root/dev" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
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

if [ -n "$earlier" ]; then
  say "an earlier version, and a run of it"
  mkdir "$root/earlier"
  cp "$earlier"/dasgd_*.deb "$root/earlier"
  install /earlier/dasgd_*.deb dataset-fashion-mnist
  inside "cd /tmp && dasgd --version | head -n 1; dasgd train --workers 2 --epochs 1 --rule momentum --trace --quiet --out upgraded"
fi

say "dasgd alone: no LibTorch, no MPI"
install /packages/dasgd_*.deb dataset-fashion-mnist
if [ -n "$earlier" ]; then
  say "the earlier run is audited, shown, predicted from, and goes on"
  inside "cd /tmp && dpkg-query -W dasgd && dasgd check upgraded && dasgd report upgraded && dasgd predict upgraded fashion-mnist --out answers.csv
    dasgd train --resume upgraded --epochs 2 --quiet && grep '\"leg\"' upgraded/summary.json && rm -rf /earlier upgraded answers.csv"
fi
for release in tests/releases/*/; do
  say "the stored runs of $(basename "$release")"
  cp -r "$release" "$root/tmp/stored"
  inside "cd /tmp/stored && dasgd check threads && dasgd check simulated && dasgd predict softmax rows.csv >answers.csv
    dasgd train --resume threads --gradients 60 --quiet && grep '\"leg\"' threads/summary.json && rm -rf /tmp/stored"
done
inside "dpkg-query -W | grep -E '^(lib)?(torch|openmpi|mpich)' && exit 1 || true"
inside "cd /tmp && rm -rf alone && dasgd train --workers 2 --trace --out alone && dasgd check alone && test -s alone/report.html"
inside "cd /tmp && (dasgd train --model mlp --out no 2>&1 || true) | grep dasgd-networks"
inside "dasgd --version" | grep 'not here: install the package dasgd-networks' || fail "--version does not say what is missing"

say "a run that another process joins over TLS"
inside "cd /tmp && dasgd train --model quadratic --lr 0.001 --compute 2ms --max-time 8s --listen 127.0.0.1:7070 --quiet --out first & cd /tmp
  until [ -s first/token ]; do sleep 0.2; done
  dasgd join 127.0.0.1:7070 --token-file first/token --quiet --out second; wait && dasgd check first second"

say "what the others need, and a compiler"
others=$(for deb in "$packages"/*.deb; do dpkg-deb -f "$deb" Depends; done | tr ',' '\n' | sed 's/([^)]*)//; s/|.*//; s/ //g' |
  grep -v '^dasgd$' | sort -u | tr '\n' ' ')
install "$others" libopenmpi-dev man-db bash-completion zsh fish g++ make cmake pkg-config
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

awk '/^```cpp/ { inside = 1; next } /^```/ { if (inside) exit } inside' docs/cluster.md >"$root/tmp/example/main.cpp"
inside "cd /tmp/example && sed -i 's/REQUIRED/REQUIRED COMPONENTS mpi/; s/dasgd::dasgd/dasgd::cluster/' CMakeLists.txt && cmake -B ranks >/dev/null &&
  cmake --build ranks >/dev/null && mpirun --oversubscribe -n 2 ranks/your_program" | grep -x 1 || fail "the example on ranks fails"

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
