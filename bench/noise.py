"""How quiet the machine was while something was measured; the same as noise.hpp."""
import os


def _ticks():
    with open("/proc/stat") as file:
        fields = [int(x) for x in file.readline().split()[1:9]]
    idle, waits, steal = fields[3], fields[4], fields[7]
    return sum(fields), sum(fields) - idle - waits - steal, steal


def _own():
    times = os.times()
    return sum(times[:4]) * os.sysconf("SC_CLK_TCK")


class Noise:
    def __init__(self):
        self.load, self.own, self.ticks = os.getloadavg()[0], _own(), _ticks()

    def report(self):
        total, busy, steal = (after - before for after, before in zip(_ticks(), self.ticks))
        others = max(0.0, busy - (_own() - self.own)) / max(1, total)
        stolen = steal / max(1, total)
        print(f"machine: {os.cpu_count()} cores, load {self.load:.1f} before and {os.getloadavg()[0]:.1f} after; other "
              f"programs took {100 * others:.1f} %, other machines {100 * stolen:.1f} % of its time")
        if others > 0.05 or stolen > 0.01:
            print("The machine was busy with something else: these figures say little.")
