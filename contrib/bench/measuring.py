"""Shared by the sections of the benchmark: a network, processes and their cost, statistics, the report."""

import contextlib
import math
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tests/Field/ground"))
import picture
from namespaces import (CLONE_NEWNET, CLONE_NEWNS, MNT_DETACH, MS_PRIVATE, MS_REC, inside, ip, leave_the_machine, libc,  # noqa: F401
                        prepare_child, started, system_call, this_namespace)

LINK, PEER_LINK = "r0", "p0"
# Unequal on purpose: with equal numbers the kernel delays the loss of carrier by up to a second (linkwatch).
LINK_INDEX, PEER_INDEX = 100, 200
ADDRESS, GATEWAY, ELSEWHERE = "192.0.2.2/24", "192.0.2.1", "203.0.113.10"

# ---------------------------------------------------------------- namespaces


@contextlib.contextmanager
def network(own_mounts):
    """Moves this process into a new namespace with a veth pair and a default route; yields the far end's namespace.

    Neither namespace has a name: an open file holds the far one, and this process the near one. The kernel removes both
    with the last process in them, however it ends.
    """
    home, far, mounted = this_namespace(), None, False
    try:
        system_call("unshare", CLONE_NEWNET)
        far = this_namespace()
        system_call("unshare", CLONE_NEWNET)
        # /sys shows the network of the process that mounted it. If it cannot be mounted again, the old one stays.
        mounted = own_mounts and libc.mount(b"sysfs", b"/sys", b"sysfs", 0, None) == 0
        ip("link", "set", "lo", "up")
        ip("link", "add", LINK, "index", str(LINK_INDEX), "type", "veth", "peer", "name", PEER_LINK, "index",
           str(PEER_INDEX))
        ip("link", "set", PEER_LINK, "netns", f"/proc/{os.getpid()}/fd/{far}")
        with inside(far):
            ip("link", "set", "lo", "up")
            ip("address", "add", f"{GATEWAY}/24", "dev", PEER_LINK)
            ip("link", "set", PEER_LINK, "up")
        ip("address", "add", ADDRESS, "dev", LINK)
        ip("link", "set", LINK, "up")
        ip("route", "add", "default", "via", GATEWAY, "dev", LINK)
        await_addresses()
        yield far
    finally:
        system_call("setns", home, CLONE_NEWNET)
        if mounted:
            libc.umount2(b"/sys", MNT_DETACH)
        if far is not None:
            os.close(far)
        os.close(home)


def await_addresses():
    """Waits for the duplicate detection of the link-local addresses, which takes a second or two and sends notices."""
    for _ in range(50):
        time.sleep(0.1)
        if not subprocess.run(["ip", "-6", "address", "show", "tentative"], capture_output=True, check=True).stdout:
            return


# ---------------------------------------------------------------- processes


def cpu_ns(process):
    """CPU time of all threads, including those that ended, in nanoseconds (the clock of clock_getcpuclockid(3))."""
    return time.clock_gettime_ns((~process.pid << 3) | 2)


def memory_kib(process):
    """Private dirty pages and anonymous ones cannot be given back; clean pages of a file belong to the page cache, mapped or not."""
    wanted = {"Rss": "rss_kib", "Pss": "pss_kib", "Private_Dirty": "dirty_kib", "Anonymous": "anonymous_kib"}
    found = {}
    for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()[1:]:
        key, value = line.split(":")
        if key in wanted:
            found[wanted[key]] = int(value.split()[0])
    return found


def switches(process):
    counts = {}
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        lines = (task / "status").read_text().splitlines()
        counts[task.name] = sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)
    return counts


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


# ---------------------------------------------------------------- numbers


def quantile(values, part):
    """The nearest-rank quantile of a list that is not empty."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)]


def median(values):
    return quantile(values, 0.5)


def ratio(a, b):
    return a / b if a is not None and b else None


def shown(value, digits=1, unit=""):
    return "-" if value is None else f"{value:.{digits}f}{unit}" if isinstance(value, float) else f"{value}{unit}"


def print_table(title, header, rows):
    cells = [header] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    print(f"\n{title}")
    for row in cells:
        first = row[0].ljust(widths[0])
        print("  " + "  ".join([first] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]))
    sys.stdout.flush()


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
