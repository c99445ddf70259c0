#!/bin/sh
# A library names a setting by its key in backquotes, never by an option of the program, which turns one into the other: fails where it does
# not, where a key does not exist, and where a message of the program or of the Python package names an option that does not exist.
#   check_words.sh [ROOT]    ROOT holds src/, and apps/ and python/ where there are any (default: the repository)
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

# The options of the tables, and those that commands define themselves. Commands of other programs (mpirun, curl) are not messages; the names
# that other programs give to options stand in argument_mistakes.cpp.
options=$({ grep -rhoE '"--[A-Za-z][A-Za-z-]*"' src/dasgd/settings; [ ! -d apps ] || grep -rhoE '[("]-*-[A-Za-z,-]*"' apps/dasgd/cli; } |
  grep -oE -- '--[A-Za-z][A-Za-z-]*' | sort -u | tr '\n' ' ')
sources=$(find apps python -name '*.hpp' -o -name '*.cpp' -o -name '*.py' 2>/dev/null | grep -vE '/fetch/|argument_mistakes\.cpp$|python/wheel/' || true)
[ -z "$sources" ] || echo "$sources" | xargs awk -v options="$options --help --version" '
BEGIN { count = split(options, option, " "); for (i = 1; i <= count; i++) known[option[i]] = 1 }
{
  line = $0
  gsub(/\\"/, "", line); sub(/(^|[ \t])(\/\/|# ).*/, "", line)
  count = split(line, part, "\"")
  for (i = 2; i <= count; i += 2) {
    if (part[i] ~ /mpirun|srun|--mpi=|apt-get|tensorboard|bind-to|oversubscribe/) continue
    text = " " part[i]
    while (match(text, /[ (`]--[A-Za-z][A-Za-z-]*/)) {
      name = substr(text, RSTART + 1, RLENGTH - 1)
      if (!(name in known)) { printf "%s:%d: %s: %s\n", FILENAME, FNR, name, $0; wrong = 1 }
      text = substr(text, RSTART + RLENGTH)
    }
  }
}
END {
  if (wrong) print "check_words.sh: a message names an option that does not exist"
  exit wrong
}'

# Words that a reader would not search for, each with the usual one. story.txt is a file of a run directory, and file.tell() Python's.
old='(^|[^A-Za-z.])([Tt]old|[Tt]ells?|[Tt]elling|anew|stirred|[Ii]nhabitants?|comings)([^A-Za-z]|$)'        # report, say, show; again; on_bytes; SimMember
old="$old|[Ll]et_go|(^|[^A-Za-z])(let|lets) go([^A-Za-z]|$)|MemberTale|struct Tale|Merge::together|set_standing"   # release; MemberOutcome; union
old="$old|(Numbers|Sums|Room)Elsewhere|class Elsewhere|[^A-Za-z\"]elsewhere(_|\(\))|(^|[^A-Za-z])stor(y|ies)([^A-Za-z.]|$)"  # DeviceUpdate; scenario
old="$old|([Tt]hat|[Ww]hat|[Ww]hich) (is|are|was|were) none([^A-Za-z]|$)|(^|[^A-Za-z])is_turned|any_turned"          # malformed; permuted
old="$old|([Tt]hat|[Ww]hat|[Ww]hich) (is|are) no [a-z]"  # is not a
set --
for folder in src apps python tests docs scripts examples; do [ ! -d "$folder" ] || set -- "$@" "$folder"; done
if grep -rnIE "$old" "$@" --include='*.[ch]pp' --include='*.py' --include='*.pyi' --include='*.md' --include='*.sh' --include='*.txt' |
  grep -vE 'check_words(_test)?\.sh:|(is|are) no (longer|more|less|later|earlier|larger|smaller|better|worse) '; then
  echo "check_words.sh: an old word; use the usual one (docs/glossary.md)"
  exit 1
fi
