#!/usr/bin/env python3
"""Fails on a link of a built site that leads to no file, or to no place in it.

check_links.py SITE    pages that Doxygen has made are looked for, not into
"""
import pathlib
import sys
import urllib.parse
from html.parser import HTMLParser


class Page(HTMLParser):
    def __init__(self, path: pathlib.Path) -> None:
        super().__init__()
        self.links, self.places = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes) -> None:
        values = dict(attributes)
        self.places.update(v for k, v in attributes if k in ("id", "name") and v)
        for key in ("href", "src"):
            if values.get(key):
                self.links.append(values[key])


def main() -> int:
    site = pathlib.Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in site.rglob("*.html") if site / "cpp" not in path.parents}
    broken, links = [], 0
    for path, page in pages.items():
        if path.name == "404.html":
            continue  # its links are those of the root of a server
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            links += 1
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                broken.append(f"{path.relative_to(site)}: {link}")
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].places:
                broken.append(f"{path.relative_to(site)}: {link} (no such place)")
    for line in sorted(set(broken)):
        print(line)
    print(f"{len(pages)} pages, {links} links, {len(set(broken))} broken")
    return 1 if broken else 0


sys.exit(main())
