"""The program dasgd of an installation by pip."""

import os
import sys


def main() -> None:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dasgd_program")
    os.execv(program, ["dasgd", *sys.argv[1:]])
