#!/bin/sh
# The check of type names must find a name with two meanings, and only that.
set -eu
script=$(dirname "$0")/../../scripts/check_type_names.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/src/a" "$tree/src/b"
printf 'class Door;\nstruct Wall {\n  struct Part {};\n};\nenum class Kind { one };\n' >"$tree/src/a/a.hpp"
printf 'struct Door {};\nstruct House {\n  struct Part {};\n};\n' >"$tree/src/b/b.hpp"
"$script" "$tree" || { echo "a good tree was refused"; exit 1; }
for twice in 'enum class Kind {' 'class Wall final : public House {' 'struct Door {};'; do
  echo "$twice" >"$tree/src/b/c.cpp"
  if "$script" "$tree" >"$tree/log"; then echo "$twice was accepted"; exit 1; fi
  grep -q '^src/[ab]/[abc].[hc]pp:' "$tree/log" || { echo "the place is not named:"; cat "$tree/log"; exit 1; }
done
