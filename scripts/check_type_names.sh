#!/bin/sh
# Fails where two files of the library define a type (class, struct or enum in a namespace) of the same name: a name means
# one thing, wherever it is read.
#   check_type_names.sh [ROOT]    ROOT holds src/ (default: the repository)
set -eu
cd "${1:-$(dirname "$0")/..}"

# Known: an entry of the membership and the process that is one.
known=" Member "

# Types in namespaces begin a line; those inside of others are indented.
grep -rnE '^(class|struct|enum( class)?) [A-Z][A-Za-z0-9_]*( final)?( *:[^:].*| *\{.*)?$' src --include='*.hpp' --include='*.cpp' |
  awk -F: -v known="$known" '
{
  name = $3
  sub(/^(enum )?(class|struct|enum) /, "", name); sub(/[^A-Za-z0-9_].*/, "", name)
  if (index(known, " " name " ") || seen[name, $1]++) next
  if (name in place) {
    printf "%s:%s: %s is also the name of a type in %s; give one of them a name of its own\n", $1, $2, name, place[name]
    bad = 1
  }
  place[name] = $1
}
END { exit bad }'
