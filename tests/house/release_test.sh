#!/bin/sh
# A release is refused while version, CHANGELOG, stored run, tree and tag do not agree; the version stands in one place.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/scripts" "$work/tests/releases"
cp "$root/scripts/release.sh" "$root/scripts/version.sh" "$work/scripts"
cd "$work"
git init -q . && git config user.email a@b && git config user.name a
expect() { # what it says of 1.2.3
  git add -A && git commit -qm x --allow-empty
  said=$(scripts/release.sh 1.2.3 --dry-run 2>&1) || true
  case $said in *"$1"*) ;; *) echo "said: $said, not: $1"; exit 1 ;; esac
}
echo 'project(dasgd VERSION 1.2.2 LANGUAGES CXX' >CMakeLists.txt
echo '# Changes' >CHANGELOG.md
expect 'CMakeLists.txt says 1.2.2, not 1.2.3'
sed -i s/1.2.2/1.2.3/ CMakeLists.txt
expect "no line '## 1.2.3 (DATE)'"
echo '## 1.2.3 (2026-01-31)' >>CHANGELOG.md
expect 'no part Unreleased'
echo '## Unreleased' >>CHANGELOG.md
expect 'tests/releases/1.2.3 is missing'
mkdir tests/releases/1.2.3 && touch tests/releases/1.2.3/a
expect 'ready for 1.2.3'

# A release itself, of a project whose targets are quick: everything is there with its checksum, and the tag is only where all went well.
mkdir .ci && printf '#!/bin/sh\ntouch tested\n' >.ci/run && chmod +x .ci/run
printf 'build\ntested\n*.tar.gz\n' >.gitignore
cat >Makefile <<'END'
lint sanitize check-packages check-docs: ; @touch tested
deb: ; @mkdir -p build/packages && echo deb >build/packages/a.deb && echo tar >dasgd-1.2.3.tar.gz
site: ; @mkdir -p build/site && echo page >build/site/index.html && test ! -e broken
END
touch broken && git add -A && git commit -qm x
! scripts/release.sh 1.2.3 --tested >/dev/null 2>&1 && [ -z "$(git tag)" ] || { echo "a release that failed has left its tag"; exit 1; }
git rm -q broken && git commit -qm x
scripts/release.sh 1.2.3 >/dev/null && [ -e tested ] && [ "$(git tag)" = v1.2.3 ]
(cd build/release-1.2.3 && sha256sum --quiet -c SHA256SUMS && [ "$(wc -l <SHA256SUMS)" = 3 ])
git tag -d v1.2.3 >/dev/null
touch b && said=$(scripts/release.sh 1.2.3 --dry-run 2>&1 || true)
case $said in *'not committed'*) ;; *) echo "said: $said"; exit 1 ;; esac
git add -A && git commit -qm b && git tag v1.2.3
expect 'the tag v1.2.3 is there already'

# No other file of the build names the version.
cd "$root"
version=$(scripts/version.sh)
if grep -nF "$version" Makefile CMakePresets.json src/dasgd/CMakeLists.txt packaging/debian/* scripts/*.sh 2>/dev/null; then
  echo "the version $version stands elsewhere as well"
  exit 1
fi
