"""Pages of runs in notebooks."""

from __future__ import annotations

import html
import os


def framed(path: str, otherwise: str) -> str:
    """The page at `path` as HTML that stands in another page; `otherwise` where it was not written."""
    if not os.path.exists(path):
        return html.escape(otherwise)
    with open(path, encoding="utf-8") as page:
        source = html.escape(page.read(), quote=True)
    return f'<iframe srcdoc="{source}" style="width:100%;height:720px;border:0"></iframe>'
