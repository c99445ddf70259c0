#!/usr/bin/python3
"""Three tables as people have them, trained and predicted with the first command that one would try, against a baseline made by hand.

    bench/tables.py build/release/dasgd [--rows 50000] [--seeds 3] [--keep DIR]

customers.csv: texts, dates, gaps, yes or no; houses.csv: a number to predict; miete.csv: the same with German decimals. A fifth of the
rows is held back in a file of its own. The baseline has its columns encoded by hand in
numpy and is trained by PyTorch with the same kind of model: Adam on softmax or a network, least squares in closed form. Printed are
accuracies or R2 on what was held back, and the difference in points.
"""
import argparse
import csv
import datetime
import json
import os
import subprocess
import sys
import tempfile

import numpy
import torch

CITIES = [f"{a}{b}" for a in ("Alt", "Neu", "Bad ", "Ober", "Unter", "Gross") for b in ("dorf", "stadt", "heim", "au", "berg", "feld", "bach", "burg")]
JOBS = ["nurse", "teacher", "driver", "engineer", "clerk", "baker", "farmer", "student"]
FIRST_DAY = datetime.date(2021, 1, 1)


def customers(rows, draw):
    """Whether a customer stays: by city, job, the season and day of the week of the last visit, age, income and an account."""
    city = (len(CITIES) * draw.random(rows) ** 2).astype(int)
    job, day = draw.integers(len(JOBS), size=rows), draw.integers(0, 1000, size=rows)
    age, income = draw.integers(18, 80, size=rows), numpy.exp(draw.normal(10.3, 0.5, rows))
    account = draw.random(rows) < 0.5
    of_city, of_job = draw.normal(0, 1.2, len(CITIES)), draw.normal(0, 0.8, len(JOBS))
    weekend = numpy.array([(FIRST_DAY + datetime.timedelta(int(d))).weekday() >= 5 for d in range(1000)])[day]
    score = (of_city[city] + of_job[job] + 0.9 * numpy.sin(2 * numpy.pi * day / 365.25) + numpy.where(weekend, 1.0, -0.4) +
             0.03 * (age - 45) + 0.9 * (numpy.log(income) - 10.3) / 0.5 + numpy.where(account, 0.6, -0.6))
    stays = draw.random(rows) < 1 / (1 + numpy.exp(-1.5 * score))
    gap = draw.random((rows, 3)) < 0.05
    lines = [["customer", "city", "job", "last visit", "age", "income", "account", "stays"]]
    for r in range(rows):
        lines.append([
            f"C{r:06}", "" if gap[r, 0] else CITIES[city[r]], "NA" if gap[r, 1] else JOBS[job[r]],
            (FIRST_DAY + datetime.timedelta(int(day[r]))).isoformat(), str(age[r]), "" if gap[r, 2] else f"{income[r]:.2f}",
            "yes" if account[r] else "no", "yes" if stays[r] else "no",
        ])
    return lines


def houses(rows, draw):
    """What a house costs: by its area, rooms, year, district and heating."""
    area, rooms, year = draw.uniform(30, 250, rows), draw.integers(1, 9, rows), draw.integers(1900, 2024, rows)
    district, heating = draw.integers(12, size=rows), draw.integers(3, size=rows)
    of_district = draw.normal(0, 60000, 12)
    price = 2500 * area + 9000 * rooms + 700 * (year - 1960) + of_district[district] + 15000 * heating + draw.normal(0, 40000, rows)
    names = ["gas", "oil", "heat pump"]
    lines = [["area", "rooms", "year", "district", "heating", "price"]]
    for r in range(rows):
        lines.append([f"{area[r]:.1f}", str(rooms[r]), str(year[r]), f"district {district[r]}", names[heating[r]], f"{price[r]:.2f}"])
    return lines


def german(value):
    whole, part = f"{value:,.2f}".split(".")
    return whole.replace(",", ".") + "," + part


def rents(rows, draw):
    """The same kind of table as spreadsheets in Germany write it: semicolons, decimal commas, points between thousands."""
    area, floor, town = draw.uniform(20, 180, rows), draw.integers(0, 8, rows), draw.integers(6, size=rows)
    day, lift = draw.integers(0, 1000, rows), draw.random(rows) < 0.4
    of_town = draw.normal(0, 150, 6)
    rent = 11.5 * area + 12 * floor + of_town[town] + numpy.where(lift, 80, 0) + 0.2 * day + draw.normal(0, 90, rows) + 300
    names = ["Ulm", "Köln", "Trier", "Jena", "Kiel", "Gera"]
    lines = [["Fläche", "Etage", "Ort", "frei ab", "Aufzug", "Miete"]]
    for r in range(rows):
        free = FIRST_DAY + datetime.timedelta(int(day[r]))
        lines.append([german(area[r]), str(floor[r]), names[town[r]], free.strftime("%d.%m.%Y"), "ja" if lift[r] else "nein", german(rent[r])])
    return lines


def write(path, lines, separator=","):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=separator, lineterminator="\n").writerows(lines)


def number(text):
    return float(text.replace(".", "").replace(",", ".")) if "," in text else float(text)


def date(text):
    return datetime.datetime.strptime(text, "%Y-%m-%d" if "-" in text else "%d.%m.%Y")


def encoded(lines, train, kinds):
    """What one writes by hand: numbers with their mean where there are gaps, 0 or 1 for each text, dates as days, season and weekday."""
    columns = []
    for k, kind in enumerate(kinds):
        texts = [line[k] for line in lines]
        if kind == "number":
            values = numpy.array([numpy.nan if t == "" else number(t) for t in texts])
            values = numpy.where(numpy.isnan(values), numpy.nanmean(values[:train]), values)
            columns.append((values - values[:train].mean()) / values[:train].std())
        elif kind == "text":
            columns += [numpy.array([t == name for t in texts], float) for name in sorted(set(texts[:train]))]
        elif kind == "date":
            days = [date(t) for t in texts]
            count = numpy.array([d.toordinal() for d in days], float)
            season = 2 * numpy.pi * numpy.array([d.timetuple().tm_yday for d in days]) / 365.25
            columns += [(count - count[:train].mean()) / count[:train].std(), numpy.sin(season), numpy.cos(season)]
            columns += [numpy.array([d.weekday() == w for d in days], float) for w in range(7)]
    return numpy.stack([numpy.ones(len(lines)), *columns], 1).astype("f4")


def classes_by_hand(x, y, train, hidden, epochs=20, batch=128):
    torch.manual_seed(1)
    width = x.shape[1]
    model = torch.nn.Linear(width, 2) if not hidden else torch.nn.Sequential(torch.nn.Linear(width, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * (train // batch))
    inputs, labels = torch.from_numpy(x), torch.from_numpy(y)
    for _ in range(epochs):
        order = torch.randperm(train)
        for k in range(train // batch):
            rows = order[k * batch:(k + 1) * batch]
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs[rows]), labels[rows]).backward()
            optimizer.step()
            schedule.step()
    with torch.no_grad():
        return float((model(inputs[train:]).argmax(1) == labels[train:]).float().mean())


def squares_by_hand(x, y, train):
    w = numpy.linalg.lstsq(x[:train].astype("f8"), y[:train], rcond=None)[0]
    return 1 - ((x[train:] @ w - y[train:]) ** 2).sum() / ((y[train:] - y[train:].mean()) ** 2).sum()


def by_dasgd(dasgd, place, name, more, seed):
    """Answers about what was held back, and what the program said."""
    run = os.path.join(place, f"run-{name}-{seed}")
    command = [dasgd, "train", "--data", f"{place}/{name}.csv", *more, "--seed", str(seed), "--quiet", "--no-report", "--out", run]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    asked = subprocess.run([dasgd, "predict", run, f"{place}/{name}-later.csv"], capture_output=True, text=True)
    if asked.returncode != 0:
        sys.exit(asked.stderr)
    answers = [line.split(",")[1] for line in asked.stdout.splitlines()[1:]]
    with open(f"{run}/summary.json", encoding="utf-8") as file:
        return answers, json.load(file)["wall_seconds"], asked.stderr.strip().splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--rows", type=int, default=50000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--keep")
    a = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as made:
        place = a.keep or made
        os.makedirs(place, exist_ok=True)
        tables = {
            "customers": (customers(a.rows, numpy.random.default_rng(1)), ",", ["", "text", "text", "date", "number", "number", "text"], ["softmax", "mlp"]),
            "houses": (houses(a.rows // 5, numpy.random.default_rng(2)), ",", ["number", "number", "number", "text", "text"], ["linear"]),
            "miete": (rents(a.rows // 5, numpy.random.default_rng(3)), ";", ["number", "number", "text", "date", "text"], ["linear"]),
        }
        for name, (lines, separator, kinds, models) in tables.items():
            header, rows = lines[0], lines[1:]
            train = len(rows) * 4 // 5
            write(f"{place}/{name}.csv", [header, *rows[:train]], separator)
            write(f"{place}/{name}-later.csv", [header, *rows[train:]], separator)
            x, labels = encoded(rows, train, kinds), [row[-1] for row in rows]
            for model in models:
                if model == "linear":
                    y = numpy.array([number(text) for text in labels])
                    baseline = squares_by_hand(x, y, train)
                else:
                    baseline = classes_by_hand(x, numpy.array([text == "yes" for text in labels]).astype("i8"), train, 64 if model == "mlp" else 0)
                for seed in range(1, a.seeds + 1):
                    answers, seconds, said = by_dasgd(os.path.abspath(a.binary), place, name, [] if model == "softmax" else ["--model", model], seed)
                    if model == "linear":
                        of = numpy.array([float(text) for text in answers])
                        found = 1 - ((of - y[train:]) ** 2).sum() / ((y[train:] - y[train:].mean()) ** 2).sum()
                    else:
                        found = numpy.mean([answer == label for answer, label in zip(answers, labels[train:])])
                    print(f"{name:10} {len(rows):6} rows  {model:8} seed {seed}  by hand {baseline:.4f}  dasgd {found:.4f}  "
                          f"{100 * (found - baseline):+.2f} points  {seconds:.1f} s  {' | '.join(said)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
