#!/bin/sh
# The check of words must fail on an error of a library that speaks of an option or of a key that does not exist, and on nothing else.
set -eu
script=$(dirname "$0")/../../scripts/check_words.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/src/dasgd/data" "$tree/src/dasgd/settings"

echo 'return {"classes", "--classes"};' >"$tree/src/dasgd/settings/problem_settings.cpp"

refuses() {
  echo "$1" >"$tree/src/dasgd/data/rows.cpp"
  if "$script" "$tree" >"$tree/log"; then
    echo "an error was accepted: $1"; exit 1
  fi
  grep -q 'src/dasgd/data/rows.cpp:1:' "$tree/log" || { echo "the place is not named:"; cat "$tree/log"; exit 1; }
}
refuses 'throw InputError(path + ": give --classes K");'
refuses 'throw InputError(path + ": see https://example.org; give --L");'
refuses 'throw InputError(fmt::format("\"{}\" --{}", value, name));'
refuses 'throw InputError("`data.classes` is one word");'
refuses 'throw InputError("`classes` and `clases` differ");'

echo 'throw InputError(path + ": give `classes` K -- " + why);  // "--classes K" on the command line
names["left"] = --count;' >"$tree/src/dasgd/data/rows.cpp"
"$script" "$tree" >"$tree/log" || { echo "a good tree was refused:"; cat "$tree/log"; exit 1; }

# Old words do not come back; the usual ones, a file of a run directory and the position in a file of Python may stay.
for line in "// the run is told" "void tell_members();" "// lets go of it" "// for bytes that are no message" "// text that is none" \
  "// a long story" "Merge::together" "update.elsewhere()" "// begins anew"; do
  refuses "$line"
done
echo "f(untold, \"story.txt\", file.tell());  // what is no longer here; there is none; there is no row" >"$tree/src/dasgd/data/rows.cpp"
"$script" "$tree" >"$tree/log" || { echo "plain words were refused:"; cat "$tree/log"; exit 1; }

# Messages of the program and of the Python package name options that exist.
mkdir -p "$tree/apps/dasgd/cli" "$tree/apps/dasgd/commands"
echo 'app->add_flag("--quick", quick_, "fewer points");' >"$tree/apps/dasgd/cli/command_line.cpp"
echo 'throw InputError("give --classes K or --quick; see: dasgd --help");  // not --slow' >"$tree/apps/dasgd/commands/check_command.cpp"
"$script" "$tree" >"$tree/log" || { echo "options that exist were refused:"; cat "$tree/log"; exit 1; }
echo 'throw InputError("give --quickly");' >"$tree/apps/dasgd/commands/check_command.cpp"
if "$script" "$tree" >"$tree/log"; then
  echo "an option that does not exist was accepted"; exit 1
fi
grep -q 'check_command.cpp:1: --quickly' "$tree/log" || { echo "the option is not named:"; cat "$tree/log"; exit 1; }
