#!/bin/sh
# Prints where tests keep their files: in memory, where there is room for them and programs can be started there. Runs
# sync what they write, in one run of the suite thousands of times, and would wait for the disk.
set -eu
[ -z "${TMPDIR:-}" ] || { echo "$TMPDIR"; exit 0; }
memory=/dev/shm
free=$(df -Pk "$memory" 2>/dev/null | awk 'NR == 2 { print $4 }')
if [ "${free:-0}" -gt 3000000 ] && probe=$(mktemp "$memory/dasgd-XXXXXX" 2>/dev/null); then
  trap 'rm -f "$probe"' EXIT
  echo '#!/bin/sh' >"$probe" && chmod +x "$probe"
  "$probe" 2>/dev/null && { echo "$memory"; exit 0; }
fi
echo /tmp
