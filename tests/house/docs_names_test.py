#!/usr/bin/env python3
"""Files, tests and member functions that the documentation names exist.

docs_names_test.py ROOT
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
NAME = re.compile(r"`([^`\n]+)`")
SENTENCE = re.compile(r"\b(?:[A-Z][a-z]+){4,}[A-Za-z]*\b")  # how tests are called
FOLDERS = {path.name for place in (ROOT, ROOT / "src/dasgd") for path in place.iterdir() if path.is_dir()} - {"build", "runs"}
MEMBER = re.compile(r"^([A-Z]\w+)::([a-z]\w*)")
PATH = re.compile(r"^(?:%s)/[\w./-]*\w" % "|".join(re.escape(folder) for folder in sorted(FOLDERS) if not folder.startswith(".")))
SOURCES = "".join(path.read_text(encoding="utf-8") for folder in ("src", "tests", "web/tests") for path in sorted((ROOT / folder).rglob("*.*"))
                  if path.suffix in (".cpp", ".hpp", ".py", ".mjs"))


def missing(text: str) -> list:
    """What stands in backquotes, outside of blocks of code, and is not there."""
    found = []
    for name in NAME.findall(re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)):
        found += [sentence for sentence in SENTENCE.findall(name) if sentence not in SOURCES]
        member = MEMBER.match(name)
        if member and not (re.search(rf"\b(?:class|struct) {member[1]}\b", SOURCES) and re.search(rf"\b{member[2]}\b", SOURCES)):
            found.append(member[0])
        path = PATH.match(name)
        if path and not any((place / path[0]).exists() for place in (ROOT, ROOT / "src/dasgd")):
            found.append(path[0])
    return found


def counts_of(text: str) -> tuple:
    """What the page of the gradient's path says that it lists, and what it lists."""
    stated = re.search(r"There are\s+(\d+), through (\d+) files", text)
    listed = text[stated.end():]
    files = set(re.findall(r"`((?:core|elastic|members|transport)/[\w/]+\.[ch]pp)`", listed))
    return (int(stated[1]), int(stated[2])), (len(re.findall(r"^\d+\. ", listed, flags=re.M)), len(files))


assert missing("`tests/nothing.cpp`") and missing("`NothingIsCalled" + "LikeThisTest`") and missing("`No" + "Worker::step`")
assert not missing("`core/worker.hpp`, `Worker::step`")
pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "site/pages").glob("*.md")]
mistakes = [f"{page.relative_to(ROOT)}: {name}" for page in sorted(pages) for name in missing(page.read_text(encoding="utf-8"))]
stated, listed = counts_of((ROOT / "docs/gradient_way.md").read_text(encoding="utf-8"))
if stated != listed:
    mistakes.append(f"docs/gradient_way.md: says {stated[0]} hops through {stated[1]} files, and lists {listed[0]} through {listed[1]}")
print("\n".join(mistakes))
sys.exit(1 if mistakes else 0)
