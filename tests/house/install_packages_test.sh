#!/bin/sh
# Without apt the script names what is needed and does not fail; an unknown group is an error.
set -eu
script=$(cd "$(dirname "$0")/../../scripts" && pwd)/install_packages.sh
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
said=$(PATH=$empty /bin/sh "$script" build 2>&1)
case $said in *"not a Debian system"*libfmt-dev*) ;; *) echo "said: $said"; exit 1 ;; esac
if "$script" nonsense 2>/dev/null; then echo "an unknown group was accepted"; exit 1; fi
