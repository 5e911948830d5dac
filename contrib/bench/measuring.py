"""Shared by the sections of the benchmark: a network, processes and their cost, statistics, the report."""

import contextlib
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tests/Field/ground"))
import picture
from figures import cpu_ns, median, memory_kib, memory_mib, print_table, quantile, switches  # noqa: F401
from namespaces import ADDRESS, ELSEWHERE, GATEWAY, LINK, PEER_LINK, await_addresses, inside, ip, leave_the_machine, network  # noqa: F401
from programs import prepare_child, started  # noqa: F401

# ---------------------------------------------------------------- processes


def netlink_sockets(process):
    """The process's netlink sockets: (groups, drops) of each."""
    inodes = set()
    for descriptor in Path(f"/proc/{process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            target = os.readlink(descriptor)
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
    rows = [line.split() for line in Path("/proc/thread-self/net/netlink").read_text().splitlines()[1:]]
    return [(int(row[3], 16), int(row[8])) for row in rows if row[9] in inodes]


def drops(process):
    return sum(row[1] for row in netlink_sockets(process))


def settle(process, quiet=0.25, limit=20):
    """Waits until the process has used no CPU time for `quiet` seconds."""
    deadline = time.monotonic() + limit
    before, since = cpu_ns(process), time.monotonic()
    while time.monotonic() - since < quiet:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{process.args[0]} does not come to rest within {limit} s")
        time.sleep(0.02)
        now = cpu_ns(process)
        if now != before:
            before, since = now, time.monotonic()


def await_listening(process, limit=10):
    deadline = time.monotonic() + limit
    while not any(groups for groups, _ in netlink_sockets(process)):
        if process.poll() is not None:
            raise RuntimeError(f"{' '.join(process.args)} ended with {process.returncode}")
        if time.monotonic() > deadline:
            raise RuntimeError(f"{' '.join(process.args)} joined no netlink group within {limit} s")
        time.sleep(0.01)
    settle(process)


def one_shots(commands, turns):
    """Runs programs in turns, from their start until they have ended: for each the times and the CPU times in ms, and the statuses."""
    quiet = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    found = {name: ([], [], set()) for name in commands}
    for turn in range(turns + 5):
        for name, argv in commands.items():
            begun = time.monotonic_ns()
            _, code, usage = os.wait4(os.posix_spawn(argv[0], argv, os.environ, file_actions=quiet), 0)
            if turn >= 5:  # the first turns fill the caches
                times, costs, codes = found[name]
                times.append((time.monotonic_ns() - begun) / 1e6)
                costs.append((usage.ru_utime + usage.ru_stime) * 1e3)
                codes.add(os.waitstatus_to_exitcode(code))
    return found


# ---------------------------------------------------------------- numbers


def ratio(a, b):
    return a / b if a is not None and b else None


def shown(value, digits=1, unit=""):
    return "-" if value is None else f"{value:.{digits}f}{unit}" if isinstance(value, float) else f"{value}{unit}"


class Report:
    def __init__(self):
        self.sections = {}
        self.checks = []
        self.curves = {}

    def curve(self, name, title, x_name, y_name, series, bound=None):
        """Cost against size, for a picture; see picture.py."""
        self.curves[name] = {"title": title, "x_name": x_name, "y_name": y_name, "series": series, "bound": bound}

    def summary(self):
        """What grew, from its smallest size to its largest: a line for each curve and series."""
        lines = []
        for name, curve in self.curves.items():
            for label, points in curve["series"].items():
                if points:
                    (least, low), (most, high) = min(points), max(points)
                    lines.append([name, label, f"{least:,} to {most:,} {curve['x_name']}",
                                  f"{shown(float(low), 2)} to {shown(float(high), 2)} {curve['y_name']}"])
        return lines

    def conclude(self, pictures):
        """Prints the summary, and writes a picture of each curve into the directory `pictures`, if there is one."""
        if lines := self.summary():
            print_table("Summary: cost against size", ["section", "what", "size", "cost"], lines)
        if pictures:
            directory = Path(pictures)
            directory.mkdir(parents=True, exist_ok=True)
            for name, curve in self.curves.items():
                (directory / f"{name}.svg").write_text(picture.curve(**curve))

    def check(self, name, value, bound, digits=2):
        met = value is not None and value <= bound
        self.checks.append({"name": name, "value": value, "at_most": bound, "met": met})
        print(f"  {'ok ' if met else 'NOT'} {name}: {shown(value, digits)}, at most {bound}", flush=True)
