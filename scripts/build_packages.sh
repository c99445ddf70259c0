#!/bin/sh
# Builds the Debian packages of HEAD from its release archive, and looks at them with lintian. The same commit gives the
# same bytes.
#   build_packages.sh [OUT_DIR [WORK_DIR]]    default: build/packages, build/package-tree; the page must be built (make archive)
set -eu
cd "$(dirname "$0")/.."
out=${1:-build/packages}
work=${2:-build/package-tree}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 DEB_BUILD_OPTIONS="noautodbgsym parallel=${JOBS:-$(nproc)}"
version=$(scripts/version.sh)
git describe --exact-match --tags --match "v$version" >/dev/null 2>&1 ||
  version=$version+git$(TZ=UTC git log -1 --date=format-local:%Y%m%d%H%M --format=%cd.%h)

rm -rf "$out" "$work"
mkdir -p "$out" "$work"
scripts/release_archive.sh build/release "$work"
tar -xzf "$work"/dasgd-*.tar.gz -C "$work"
tree=$(echo "$work"/dasgd-*/)
cp -r packaging/debian "$tree/debian"
cat >"$tree/debian/changelog" <<END
dasgd ($version-1) unstable; urgency=medium

  * What has changed is in /usr/share/doc/dasgd/changelog.gz.

 -- The dasgd developers <dasgd@example.org>  $(date -R -u -d "@$SOURCE_DATE_EPOCH")
END
(cd "$tree" && dpkg-buildpackage -b -us -uc) >"$out/build.log" 2>&1 || { tail -n 40 "$out/build.log" >&2; exit 1; }
mv "$work"/*.deb "$out"
lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs "$out"/*.deb
(cd "$out" && sha256sum -- *.deb | tee SHA256SUMS)
