#!/usr/bin/env python3
"""Draws docs/pictures/comparison.svg from the table of docs/look_ahead.md.

comparison_picture.py [OUT]    default: the picture itself
"""
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORLDS = ["all equal", "times vary", "one 10x slower", "latency: 1 gradient", "latency: 10 gradients", "10x slower + latency 1"]
METHODS = {  # row of the table: how it is called here, its colour
    "dasgd:rule=adam:look_ahead=auto": ("DASGD, Adam, look-ahead", "#d55e00"),
    "minibatch:rule=adam": ("all-reduce, Adam", "#0072b2"),
    "easgd:rule=adam": ("elastic averaging, Adam", "#009e73"),
    "local-sgd:rule=adam": ("local SGD, Adam", "#cc79a7"),
    "diloco": ("DiLoCo", "#8c6d1f"),
    "asgd:rule=adam": ("server ASGD, Adam", "#6e7781"),
    "dasgd": ("the paper's algorithm", "#f0a878"),
}
LEFT, RIGHT, TOP, ROW = 190, 760, 66, 34
FEWEST, LIMIT = 2.5, 60.0  # seconds: left end of the axis, and what a run was given


def times() -> dict:
    """Seconds by row and world; None where the goal was not reached."""
    rows = {}
    for line in (ROOT / "docs/look_ahead.md").read_text(encoding="utf-8").splitlines():
        row = re.match(r"\| `([^`]+)` \|((?: [*\d.-]+ \|){6})$", line)
        if row:
            cells = [cell.strip(" *") for cell in row[2].split("|")[:6]]
            rows[row[1]] = [None if cell == "-" else float(cell) for cell in cells]
    return rows


def x_of(seconds: float) -> float:
    return LEFT + (RIGHT - LEFT) * math.log(seconds / FEWEST) / math.log(LIMIT / FEWEST)


def picture(rows: dict) -> str:
    bottom = TOP + ROW * len(WORLDS)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 {bottom + 52}" font-family="system-ui, sans-serif" font-size="13" role="img" '
        'aria-label="Seconds to accuracy 0.82 with 16 workers in six worlds: DASGD with look-ahead is first, or not shown to differ from the first.">',
        "<style>.page{fill:#fff}text{fill:#24292f}.g{stroke:#8c959f;opacity:.4}@media (prefers-color-scheme:dark){.page{fill:#0d1117}text{fill:#e6edf3}}</style>",
        '<rect class="page" width="100%" height="100%" rx="4"/>',
    ]
    for index, (label, colour) in enumerate(METHODS.values()):
        x, y = 20 + 215 * (index % 4), 16 + 20 * (index // 4)
        lines.append(f'<circle cx="{x}" cy="{y}" r="6" fill="{colour}"/><text x="{x + 11}" y="{y + 5}">{label}</text>')
    for tick in (3, 5, 10, 20, 40, 60):
        x = x_of(tick)
        lines.append(f'<line class="g" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 10}" y2="{bottom - 10}"/>')
        lines.append(f'<text x="{x:.1f}" y="{bottom + 8}" text-anchor="middle">{tick} s</text>')
    lines.append(f'<text x="{RIGHT + 62}" y="{bottom + 8}" text-anchor="middle">not in 60 s</text>')
    lines.append(f'<text x="{(LEFT + RIGHT) / 2}" y="{bottom + 32}" text-anchor="middle">seconds of virtual time to accuracy 0.82, 16 workers, medians of 10 seeds</text>')
    for world, name in enumerate(WORLDS):
        y = TOP + ROW * world + 6
        lines.append(f'<text x="{LEFT - 14}" y="{y + 5}" text-anchor="end">{name}</text>')
        lines.append(f'<line class="g" x1="{LEFT}" x2="{RIGHT}" y1="{y}" y2="{y}"/>')
        missed = 0
        for method, (_, colour) in reversed(METHODS.items()):  # the first is drawn last, on top
            seconds = rows[method][world]
            x = RIGHT + 24 + 16 * missed if seconds is None else x_of(seconds)
            missed += seconds is None
            radius = 8 if method == next(iter(METHODS)) else 6
            lines.append(f'<circle cx="{x:.1f}" cy="{y}" r="{radius}" fill="{colour}"{" opacity=" + chr(34) + ".45" + chr(34) if seconds is None else ""}/>')
    return "\n".join(lines) + "\n</svg>\n"


out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/pictures/comparison.svg"
out.write_text(picture(times()), encoding="utf-8")
