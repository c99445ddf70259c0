#!/bin/sh
# Without apt the script names what is needed and does not fail; an unknown group is an error; a user
# a user other than root installs what is missing with sudo, or gets the command to run.
set -eu
script=$(cd "$(dirname "$0")/../../scripts" && pwd)/install_packages.sh
stubs=$(mktemp -d)
trap 'rm -rf "$stubs"' EXIT
said=$(PATH=$stubs /bin/sh "$script" build 2>&1)
case $said in *"not a Debian system"*libfmt-dev*) ;; *) echo "said: $said"; exit 1 ;; esac
if "$script" nonsense 2>/dev/null; then echo "an unknown group was accepted"; exit 1; fi

# A Debian on which nothing is installed, seen by an ordinary user: tools that only say what they were asked.
stub() { printf '#!/bin/sh\n%s\n' "$2" >"$stubs/$1" && chmod +x "$stubs/$1"; }
stub id 'echo 1000'
stub dpkg-query 'exit 1'
stub apt-get 'echo "ran: apt-get $*" >&2'
for tool in grep; do ln -s "$(command -v $tool)" "$stubs/$tool"; done
if said=$(PATH=$stubs /bin/sh "$script" bench 2>&1); then echo "went on without rights"; exit 1; fi
case $said in *"as root run: apt-get install"*libbenchmark-dev*) ;; *) echo "said: $said"; exit 1 ;; esac
stub sudo 'echo "with sudo: $*" >&2; exec "$@"'
said=$(PATH=$stubs /bin/sh "$script" bench 2>&1)
case $said in *"with sudo: apt-get update"*"with sudo: apt-get install"*libbenchmark-dev*) ;; *) echo "said: $said"; exit 1 ;; esac
