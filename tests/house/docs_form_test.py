#!/usr/bin/env python3
"""Pages are short enough to read: lines of at most 120 characters, pages of about 200 lines, cells without paragraphs.

docs_form_test.py ROOT
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
WIDEST, LONGEST, LARGEST_CELL = 120, 220, 100
LISTS = {"docs/command_line.md", "docs/claims.md", "CHANGELOG.md"}  # looked up, not read: of any length


def mistakes(name: str, text: str) -> list:
    found, fenced = [], False
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        fenced ^= line.lstrip().startswith("```")
        if len(line) > WIDEST:
            found.append(f"{name}:{number}: {len(line)} characters, more than {WIDEST}")
        if not fenced and line.startswith("|") and max(map(len, re.split(r"(?<!\\)\|", line))) > LARGEST_CELL:
            found.append(f"{name}:{number}: a paragraph in a table; make it a list")
    if name not in LISTS and len(lines) > LONGEST:
        found.append(f"{name}: {len(lines)} lines, more than {LONGEST}; split it, or move lab notes to docs/notes")
    return found


assert mistakes("p", "x" * 121) and mistakes("p", "| " + "x " * 55 + "|") and mistakes("p", "x\n" * 221)
assert not mistakes("CHANGELOG.md", "x\n" * 221)
pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "site/pages").glob("*.md")]
found = [line for page in sorted(pages) for line in mistakes(str(page.relative_to(ROOT)), page.read_text(encoding="utf-8"))]
if len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) > 120:
    found.append("README.md: more than 120 lines")
with tempfile.TemporaryDirectory() as work:
    picture = pathlib.Path(work) / "comparison.svg"
    subprocess.run([sys.executable, ROOT / "scripts/comparison_picture.py", picture], check=True)
    if picture.read_bytes() != (ROOT / "docs/pictures/comparison.svg").read_bytes():
        found.append("docs/pictures/comparison.svg is stale: run scripts/comparison_picture.py")
print("\n".join(found))
sys.exit(1 if found else 0)
