#!/usr/bin/env python3
"""Writes what the containers of compose.yml or of run.yaml run as scripts of a shell, OUT_DIR/NAME, for a run of a few seconds.

container_commands.py FILE OUT_DIR
"""
import pathlib
import shlex
import sys

import yaml

ENTRYPOINT = ["dasgd"]  # that of the Containerfile


def of_compose(text: str):
    for name, service in yaml.safe_load(text.replace("$$", "$"))["services"].items():
        command = service["command"]
        yield name, service.get("entrypoint", ENTRYPOINT) + (shlex.split(command) if isinstance(command, str) else command)


def of_kubernetes(text: str):
    for thing in yaml.safe_load_all(text):
        pod = thing.get("spec", {}).get("template", {}).get("spec", {"containers": []})
        for container in pod["containers"]:
            yield thing["metadata"]["name"], container.get("command", ENTRYPOINT) + container["args"]


def main() -> int:
    file, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    out.mkdir()
    for name, words in (of_compose if "services:" in file.read_text() else of_kubernetes)(file.read_text()):
        if "--max-time" in words:
            words[words.index("--max-time") + 1] = "8s"
        (out / name).write_text(shlex.join(words) + "\n")
    return 0


sys.exit(main())
