"""Members of an elastic run as real processes, on hosts that can be cut from each other."""
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import time

os.environ["PATH"] += ":/usr/sbin:/sbin"  # where ip and nft are


def call(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **more).stdout


def wait_until(what, happened, limit=300, details=lambda: ""):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if happened():
            return
        time.sleep(0.1)
    raise SystemExit(f"{what} did not happen within {limit} s {details()}")


def write_array(path, kind, shape, content):
    """An .npy file."""
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + content)


def may_make_hosts():
    """Whether this user may have network namespaces with a firewall of their own."""
    trial = "ip link add switch type bridge && ip link add port type veth peer name net && unshare -n nft list ruleset"
    return subprocess.run(["unshare", "-rn", "sh", "-c", trial], capture_output=True).returncode == 0


def run_inside(script):
    """Plays the script again in a network of its own, where it may make hosts. Returns its status."""
    return subprocess.run(["unshare", "-rnm", "--kill-child", sys.executable, script, *sys.argv[1:], "--inside"]).returncode


class Hosts:
    """Network namespaces on one bridge. Each has a firewall (nftables) that drops what comes from those it is cut from: nobody hears of it."""

    def __init__(self, count):
        call("ip", "link", "set", "lo", "up")
        call("ip", "link", "add", "switch", "type", "bridge")
        call("ip", "link", "set", "switch", "up")
        self.keepers = []
        for host in range(count):
            keeper = subprocess.Popen(["unshare", "-n", "sleep", "1000000"])
            self.keepers.append(keeper)
            wait_until("the namespace", lambda k=keeper: os.stat(f"/proc/{k.pid}/ns/net").st_ino != os.stat("/proc/self/ns/net").st_ino)
            call("ip", "link", "add", f"port{host}", "type", "veth", "peer", "name", "net", "netns", keeper.pid)
            call("ip", "link", "set", f"port{host}", "master", "switch", "up")
            enter = self.prefix(host)
            call(*enter, "ip", "link", "set", "lo", "up")
            call(*enter, "ip", "address", "add", f"{self.address(host)}/24", "dev", "net")
            call(*enter, "ip", "link", "set", "net", "up")
            rules = "table ip cuts { set away { type ipv4_addr; }; chain incoming { type filter hook input priority 0; ip saddr @away drop; }; }"
            call(*enter, "nft", rules)

    def __len__(self):
        return len(self.keepers)

    def address(self, host):
        return f"10.9.0.{host + 1}"

    def prefix(self, host):
        return ["nsenter", "-t", str(self.keepers[host].pid), "-n"]

    def separate(self, pairs):
        """From now on exactly these pairs of hosts (a, b) are cut: b hears nothing from a."""
        for host in range(len(self.keepers)):
            away = [self.address(a) for a, b in pairs if b == host]
            more = f"add element ip cuts away {{ {', '.join(away)} }}" if away else ""
            call(*self.prefix(host), "nft", f"flush set ip cuts away; {more}")

    def thin(self, host, kbit):
        """From now on what this host sends passes at so many kbit/s; 0: as fast as it can. False where that is not possible."""
        change = ["replace", "dev", "net", "root", "tbf", "rate", f"{kbit}kbit", "burst", "4k", "latency", "400ms"] if kbit else ["del", "dev", "net", "root"]
        return subprocess.run([*self.prefix(host), "tc", "qdisc", *change], capture_output=True).returncode == 0

    def card(self, host, kbit):
        """This host has a network card of so many kbit/s, out and in. False where that is not possible."""
        shape = ["root", "tbf", "rate", f"{kbit}kbit", "burst", "32k", "latency", "100ms"]
        out = subprocess.run([*self.prefix(host), "tc", "qdisc", "replace", "dev", "net", *shape], capture_output=True)
        into = subprocess.run(["tc", "qdisc", "replace", "dev", f"port{host}", *shape], capture_output=True)
        return out.returncode == into.returncode == 0

    def close(self):
        for keeper in self.keepers:
            keeper.kill()


class Member:
    """`dasgd train` or `dasgd join`, and what it says."""

    def __init__(self, dasgd, work, number, arguments, prefix=(), listen="127.0.0.1", disk=""):
        """`disk`: the size of a disk of its own, in a network of its own only."""
        self.dasgd, self.name = dasgd, f"w{number}"
        self.directory, self.disk = work / self.name, disk
        if disk:
            self.directory.mkdir()
            call("mount", "-t", "tmpfs", "-o", f"size={disk}", "tmpfs", self.directory)
        self.log = work / f"{self.name}.log"
        self.sleeps_until = 0.0
        self.leaves = False
        command = [*prefix, dasgd, *arguments, "--listen", f"{listen}:0", "--name", self.name, "--out", self.directory]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=subprocess.STDOUT)

    def remove(self):
        """Its files, when it has ended."""
        if self.disk:
            call("umount", "-l", self.directory)
        shutil.rmtree(self.directory, ignore_errors=True)
        self.log.unlink()

    def text(self):
        return self.log.read_text(errors="replace")

    def address(self):
        try:
            return (self.directory / "address").read_text().strip()
        except OSError:
            return ""

    def has_joined(self):
        return "joined at step" in self.text()

    def ask(self, line):
        """What it answers in its directory, as `dasgd status` and `dasgd leave` ask; empty if it does not."""
        try:
            with socket.socket(socket.AF_UNIX) as door:
                door.settimeout(20)
                door.connect(str(self.directory / "control"))
                door.sendall(line.encode() + b"\n")
                return b"".join(iter(lambda: door.recv(1 << 16), b"")).decode()
        except OSError:
            return ""

    def status(self):
        answer = self.ask("status")
        return json.loads(answer) if answer.startswith("{") else {"t": 0, "me": "", "members": []}

    def sees(self, *states):
        return sum(m["state"] in states for m in self.status()["members"])

    def summary(self):
        path = self.directory / "summary.json"
        return json.loads(path.read_text()) if path.exists() else None


def expect_same_end(dasgd, members, limit):
    """They end within so many seconds, with the same bits, and `dasgd check` is content. Returns their summaries."""
    for m in members:
        try:
            status = m.process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            raise SystemExit(f"{m.name} does not end within {limit} s: {m.text()[-800:]}") from None
        if status != 0:
            raise SystemExit(f"{m.name} ended with {status}: {m.text()[-800:]}")
    summaries = [m.summary() for m in members]
    checked = subprocess.run([str(dasgd), "check", *[str(m.directory) for m in members]], capture_output=True, text=True)
    if len({(s["replica_digest"], s["set_hash"]) for s in summaries}) != 1 or checked.returncode != 0:
        logs = "".join(f"--- {m.name}: {m.text()[-1500:]}\n" for m in members)
        raise SystemExit(f"{logs}survivors differ: {checked.stdout}{checked.stderr}")
    return summaries
