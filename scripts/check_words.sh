#!/bin/sh
# A library names a setting by its key in backquotes, never by an option of the program, which turns one into the other: fails where it does not.
#   check_words.sh [ROOT]    ROOT holds src/ (default: the repository)
set -eu
cd "${1:-$(dirname "$0")/..}"
found=$(grep -rnE --include='*.hpp' --include='*.cpp' -e '--[a-z]{2,}' src | grep -v '^src/dasgd/settings/' | sed 's#//.*##' | grep -E '"[^"]*--[a-z]{2,}' || true)
[ -z "$found" ] && exit
echo "$found"
echo 'check_words.sh: a library speaks of an option; name the setting by its key in backquotes'
exit 1
