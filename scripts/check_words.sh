#!/bin/sh
# A library names a setting by its key in backquotes, never by an option of the program, which turns one into the other: fails where it does not.
#   check_words.sh [ROOT]    ROOT holds src/ (default: the repository)
# The tables of settings, src/dasgd/settings/*_settings.cpp, hold the options; --help belongs to the program whatever its settings are.
set -eu
cd "${1:-$(dirname "$0")/..}"
find src -name '*.hpp' -o -name '*.cpp' | grep -v '/settings/[a-z_]*_settings\.cpp$' | xargs awk '
{
  line = $0
  gsub(/\\"/, "", line); sub(/(^|[ \t])\/\/.*/, "", line); gsub(/--help/, "", line)
  count = split(line, part, "\"")  # every second part is in quotes
  for (i = 2; i <= count; i += 2)
    if (part[i] ~ /--[A-Za-z{]/) { printf "%s:%d: %s\n", FILENAME, FNR, $0; bad = 1; break }
}
END {
  if (bad) print "check_words.sh: a library speaks of an option; name the setting by its key in backquotes"
  exit bad
}'
