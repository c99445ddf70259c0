#!/bin/bash
# Makes a release of HEAD: tests it, tags it, and leaves the source archive, packages and site with checksums in
# build/release-VERSION. Publishing is a push of the tag and an upload of that directory, by hand.
#   release.sh VERSION [--dry-run|--tested]    --dry-run says whether all is ready, and does nothing; --tested: CI has passed on
#                                              this commit, with lint and sanitizers
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?usage: release.sh VERSION [--dry-run|--tested]}
refuse() { echo "release.sh: $*" >&2; exit 1; }

[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || refuse "$version is not MAJOR.MINOR.PATCH"
[ "$(scripts/version.sh)" = "$version" ] || refuse "CMakeLists.txt says $(scripts/version.sh), not $version"
grep -qE "^## $version \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$" CHANGELOG.md || refuse "CHANGELOG.md has no line '## $version (DATE)'"
grep -q '^## Unreleased$' CHANGELOG.md || refuse "CHANGELOG.md has no part Unreleased"
[ -d "tests/releases/$version" ] || refuse "tests/releases/$version is missing: store a run with tests/releases/store.sh"
[ -z "$(git status --porcelain)" ] || refuse "there are changes that are not committed"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || refuse "the tag v$version is there already"
[ "${2:-}" = --dry-run ] && { echo "ready for $version"; exit 0; }

if [ "${2:-}" != --tested ]; then
  .ci/run
  make lint
  make sanitize
fi
git tag -a "v$version" -m "dasgd $version"
trap 'git tag -d "v$version" >/dev/null; echo "release.sh: failed; the tag is gone again" >&2' ERR
make deb check-packages check-docs site
out=build/release-$version
rm -rf "$out"
mkdir -p "$out"
cp "dasgd-$version.tar.gz" build/packages/*.deb "$out"
tar --sort=name --mtime="@$(git log -1 --format=%ct)" --owner=0 --group=0 --numeric-owner -C build -c site | gzip -9n >"$out/dasgd-$version-site.tar.gz"
(cd "$out" && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
echo "git push origin v$version, and upload $out"
