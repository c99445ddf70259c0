#!/usr/bin/env python3
"""Stages the pages of the site: those of docs/, those of site/pages, and what is generated.

stage.py DASGD PAGES    DASGD is the built program, PAGES the directory to fill

A link from a page to a file of the repository leads to a copy of that file on the site. A picture below runs/ is made
by the commands of the block above it, with that program.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from python_api import python_api

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(!?)\[((?:[^\]\\]|\\.)*)\]\(([^)\s]+)\)")
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".py": "python", ".sh": "sh", ".mjs": "js", ".toml": "toml", ".txt": "cmake", ".yml": "yaml", ".yaml": "yaml"}


class Stage:
    def __init__(self, pages: pathlib.Path) -> None:
        self.pages = pages
        self.documents = {"README.md": "index.md"}  # where a document of the repository is on the site
        for path in sorted((ROOT / "docs").rglob("*.md")):
            self.documents[str(path.relative_to(ROOT))] = str(path.relative_to(ROOT))
        for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"):
            self.documents[name] = name
        self.copied = set()

    def write(self, name: str, text: str) -> None:
        path = self.pages / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def copy_of(self, target: pathlib.Path) -> str:
        """The page that shows a file of the repository, or lists a directory."""
        name = f"source/{target.relative_to(ROOT)}.md"
        if name in self.copied:
            return name
        self.copied.add(name)
        title = f"# {target.relative_to(ROOT)}\n\n"
        if target.is_dir():
            entries = sorted(p for p in target.iterdir() if not p.name.startswith("."))
            lines = [f"- [{p.name}]({self.copy_of(p).split('/', 1)[1]})" if p.is_file() and is_text(p) else f"- {p.name}" for p in entries]
            prefix = "../" * (len(target.relative_to(ROOT).parts) - 1)
            self.write(name, title + "\n".join(lines).replace("](", "](" + prefix) + "\n")
        else:
            self.write(name, f"{title}````{LANGUAGES.get(target.suffix, 'text')}\n{target.read_text(encoding='utf-8')}\n````\n")
        return name

    def page(self, source: pathlib.Path, name: str) -> None:
        """Stages one document of the repository as page `name`."""
        here = pathlib.PurePosixPath(name).parent

        def replace(match: re.Match) -> str:
            mark, text, target = match.groups()
            if "://" in target or target.startswith(("#", "mailto:")):
                return match[0]
            path, _, anchor = target.partition("#")
            file = (source.parent / path).resolve()
            if not file.exists() or ROOT not in file.parents:
                return match[0]  # the link check will report it
            inside = str(file.relative_to(ROOT))
            if file.suffix in (".svg", ".png"):
                self.write_bytes(inside, file.read_bytes())
                goal = inside
            else:
                goal = self.documents.get(inside) or self.copy_of(file)
            up = "../" * len(here.parts)
            return f"{mark}[{text}]({up}{goal}{'#' + anchor if anchor else ''})"

        self.write(name, spaced(outside_code(source.read_text(encoding="utf-8"), lambda line: LINK.sub(replace, line))))

    def write_bytes(self, name: str, data: bytes) -> None:
        path = self.pages / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def is_text(path: pathlib.Path) -> bool:
    return b"\0" not in path.read_bytes()[:4096]


def outside_code(text: str, change) -> str:
    """Changes the lines that stand outside fenced code."""
    lines, fenced = [], False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        lines.append(line if fenced else change(line))
    return "\n".join(lines)


def spaced(text: str) -> str:
    """With an empty line before lists and tables, which this Markdown needs and that of forges does not."""
    begins = re.compile(r"(\s*([-*]|\d+\.) |\|)")
    lines, fenced, before = [], False, ""
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        starts = not fenced and begins.match(line) and before.strip() and not begins.match(before)
        if starts and not before.startswith((" ", "\t", "#")) and not line.startswith(" "):
            lines.append("")
        lines.append(line)
        before = line
    return "\n".join(lines)


def make_pictures(stage: Stage, page: pathlib.Path, dasgd: str) -> None:
    """Runs the blocks of a page that stand above pictures below runs/, and copies these."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as work:
        for block, below in re.findall(r"```\n(.*?)\n```\n(.*?)(?=```|\Z)", text, re.S):
            pictures = re.findall(r"!\[[^\]]*\]\((runs/[^)]+)\)", below)
            if not pictures:
                continue
            for command in block.replace("\\\n", " ").split("\n"):
                words = re.sub(r"^dasgd\b", dasgd, command)
                subprocess.run(words, shell=True, cwd=work, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for picture in pictures:
                stage.write_bytes(picture, (pathlib.Path(work) / picture).read_bytes())


def main() -> None:
    dasgd, pages = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    shutil.rmtree(pages, ignore_errors=True)
    stage = Stage(pages)
    for source, name in stage.documents.items():
        if name != "index.md":
            stage.page(ROOT / source, name)
    shutil.copytree(ROOT / "docs/pictures", pages / "docs/pictures", dirs_exist_ok=True)
    for page in sorted((ROOT / "site/pages").glob("*.md")):
        stage.write(page.name, spaced(page.read_text(encoding="utf-8")))
        make_pictures(stage, page, dasgd)
    shutil.copy(ROOT / "site/style.css", pages / "style.css")
    subprocess.run([dasgd, "manual", "--markdown", str(pages / "commands")], check=True)
    (pages / "commands/command_line.md").unlink()  # docs/command_line.md, which is here already
    stage.write("python_api.md", python_api(ROOT / "python/dasgd"))


main()
