#!/usr/bin/env python3
"""Sentences with strong words stand in docs/claims.md beside the test that shows them.

claims_test.py ROOT
"""
import hashlib
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
WORD = re.compile(r"\b(?:prove[dn]|provabl[ey]|guarantee(?:s|d)?|in all cases|exact(?:ly)?|never|nobody|no one|"
                  r"every(?:body|one|thing|where)?|always|identical(?:ly)?)\b", re.I)
TESTS = {name for path in (ROOT / "tests").rglob("*.[ch]pp")  # suites and their tests
         for pair in re.findall(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", path.read_text(encoding="utf-8")) for name in pair}
TESTS |= {name for path in (ROOT / "tests").rglob("*.[ch]pp")
          for name in re.findall(r"\bTYPED_TEST(?:_P)?\(\s*\w+,\s*(\w+)\)", path.read_text(encoding="utf-8"))}
UNLISTED = {"docs/claims.md", "docs/command_line.md"}  # this list; what --help prints
OTHERS = ("definition", "proof", "quotation")  # what needs no test


def sentences(text: str) -> list:
    """Those with a strong word, outside of blocks of code and of what is quoted as code."""
    text = re.sub(r"^ *```.*?^ *```$", "\n", text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    found = []
    for block in re.split(r"\n\s*\n|\n(?=\s*[-*] )|\n(?=[|#])|(?<=\n)(#.*)\n", text):
        found += re.split(r"(?<=[.:;?!])\s+(?=[A-Z`*(\[-])", " ".join((block or "").split()))
    return [re.sub(r"^(?:[-*|] |#+ )+", "", sentence) for sentence in found if WORD.search(re.sub(r"`[^`]*`", "", sentence))]


def digest(sentence: str) -> str:
    """A sentence that is changed is to be shown again."""
    return hashlib.sha256(sentence.encode()).hexdigest()[:4]


def claims(text: str) -> dict:
    """By page: beginnings of sentences, each with the digest of the whole, and what shows them."""
    found, page = {}, None
    for line in text.splitlines():
        heading = re.match(r"## (\S+\.md)$", line)
        if heading:
            page = found.setdefault(heading[1], [])
        row = re.match(r"\| (.+?) \| (.+) \|$", line)
        if row and page is not None and not row[1].startswith(("sentence", "---")):
            page.append((row[1].replace("\\|", "|"), row[2]))
    return found


def is_of(row: str, sentence: str) -> bool:
    """Whether a row, "It never [3f2a]", is about this sentence."""
    begin, _, rest = row.rpartition(" [")
    return sentence.startswith(begin) and rest == digest(sentence) + "]"


def mistakes(page: str, text: str, rows: list) -> list:
    """Sentences that are not listed, rows without a sentence, and tests that are not there."""
    said = sentences(text)
    wrong = [f"{page}: not in docs/claims.md: {s} [{digest(s)}]" for s in said if not any(is_of(row, s) for row, _ in rows)]
    wrong += [f"docs/claims.md: {page} has no such sentence: {row}" for row, _ in rows if not any(is_of(row, s) for s in said)]
    for begin, shown in rows:
        names = re.findall(r"`(\w+)`", shown)
        wrong += [f"docs/claims.md: there is no test {name}" for name in names if name not in TESTS]
        if not names and not shown.startswith(OTHERS):
            wrong.append(f"docs/claims.md: nothing shows: {begin}")
    return wrong


assert not sentences("Use `--lr proved`.") and not sentences("1. So:\n   ```\n   replicas identical\n   ```")
assert sentences("- So:\n\n    It is proven.\n    It works in all cases.") == ["It is proven.", "It works in all cases."]
assert sentences("It guarantees that.") == ["It guarantees that."]
assert sentences("It is never late. So what?\n\n- Always so.") == ["It is never late.", "Always so."]
it_never = f"It never [{digest('It never ends.')}]"
assert mistakes("p", "It always ends.", [(it_never, "definition")]) and not mistakes("p", "It never ends.", [(it_never, "definition")])
assert mistakes("p", "It never ends or begins.", [(it_never, "definition")]), "another sentence with the same beginning"
assert mistakes("p", "It never ends.", [(it_never, "`NoTestIsCalledLikeThis`")])
assert mistakes("p", "It never ends.", [(it_never, "`RunSummary`")]), "a word of the tests, and no test"
listed = claims((ROOT / "docs/claims.md").read_text(encoding="utf-8"))
pages = {str(path.relative_to(ROOT)) for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "site/pages").glob("*.md")]}
found = [f"docs/claims.md: there is no page {page}" for page in sorted(listed.keys() - pages)]
for page in sorted(pages - UNLISTED):
    found += mistakes(page, (ROOT / page).read_text(encoding="utf-8"), listed.get(page, []))
print("\n".join(found))
sys.exit(1 if found else 0)
