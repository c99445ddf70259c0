#!/bin/sh
# A library names a setting by its key in backquotes, never by an option of the program, which turns one into the other: fails where it does
# not, and where a key does not exist.
#   check_words.sh [ROOT]    ROOT holds src/ (default: the repository)
# The tables of settings, src/dasgd/settings/*_settings.cpp, hold the options; --help belongs to the program whatever its settings are.
set -eu
cd "${1:-$(dirname "$0")/..}"
# The keys of the tables, and options of commands that have none ("others" in settings.cpp).
keys=$(grep -rhoE '"[A-Za-z_.]+", "--|others\{.*\}' src/dasgd/settings | grep -oE '"[A-Za-z_.]+"' | tr -d '"' | tr '\n' ' ')
find src -name '*.hpp' -o -name '*.cpp' | grep -v '/settings/[a-z_]*_settings\.cpp$' | xargs awk -v keys="$keys" '
BEGIN { count = split(keys, key, " "); for (i = 1; i <= count; i++) known[key[i]] = 1 }
{
  line = $0
  gsub(/\\"/, "", line); sub(/(^|[ \t])\/\/.*/, "", line); gsub(/--help/, "", line)
  count = split(line, part, "\"")  # every second part is in quotes
  for (i = 2; i <= count; i += 2)
    if (part[i] ~ /--[A-Za-z{]/) { printf "%s:%d: %s\n", FILENAME, FNR, $0; bad = 1; break }
  for (i = 2; i <= count; i += 2)
    while (match(part[i], /`[A-Za-z_.]+`/)) {
      if (!(substr(part[i], RSTART + 1, RLENGTH - 2) in known)) { printf "%s:%d: %s\n", FILENAME, FNR, $0; unknown = 1 }
      part[i] = substr(part[i], RSTART + RLENGTH)
    }
}
END {
  if (bad) print "check_words.sh: a library speaks of an option; name the setting by its key in backquotes"
  if (unknown) print "check_words.sh: a message names a key that no setting has"
  exit bad || unknown
}'
