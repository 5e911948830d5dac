"""Twenty devices of the machine's own network go and come, each at another moment of the interval: what their probes say, beside ping.

Beside them also prometheus-blackbox-exporter, where it is installed.
"""

import contextlib
import json
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from namespaces import new_namespace, run_in, wire
from programs import now, run, started
from stage import Reach

COUNT, INTERVAL, OFF = 20, 5, 20
PORT = 9115


def address(number):
    return f"192.0.2.{100 + number}"


class Pings:
    """A ping of each device every second: an outage is a time of more than two seconds without a reply."""

    def __init__(self, stack):
        self.replies = [[] for _ in range(COUNT)]
        for number in range(COUNT):
            ping = stack.enter_context(started(["ping", "-n", "-O", "-i", "1", address(number)], stdout=subprocess.PIPE))
            threading.Thread(target=self._read, args=(ping.stdout, self.replies[number]), daemon=True).start()

    @staticmethod
    def _read(stream, replies):
        for line in stream:
            if b"bytes from" in line:
                replies.append(now())

    def outages(self, number):
        replies = self.replies[number]
        return [(begin, end) for begin, end in zip(replies, replies[1:]) if end - begin > 2.5]


class Exporter:
    """The exporter, and what it says of each device once an interval, in step with nothing."""

    def __init__(self, stack, directory):
        self.answers = [[] for _ in range(COUNT)]
        self.ended = threading.Event()
        configuration = Path(directory) / "blackbox.yml"
        configuration.write_text("modules: {icmp: {prober: icmp, timeout: 4s}}\n")
        stack.enter_context(started(
            ["prometheus-blackbox-exporter", f"--config.file={configuration}", f"--web.listen-address=127.0.0.1:{PORT}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        stack.callback(self.ended.set)
        for number in range(COUNT):
            threading.Thread(target=self._scrape, args=(number,), daemon=True).start()

    def _scrape(self, number):
        self.ended.wait(INTERVAL * number / COUNT)
        while not self.ended.is_set():
            begin = now()
            with contextlib.suppress(OSError):
                url = f"http://127.0.0.1:{PORT}/probe?module=icmp&target={address(number)}"
                with urllib.request.urlopen(url, timeout=10) as answer:
                    self.answers[number].append((begin, b"\nprobe_success 1" in answer.read()))
            self.ended.wait(max(0, begin + INTERVAL - now()))

    def outages(self, number):
        found, begin = [], None
        for moment, is_up in self.answers[number]:
            if not is_up and begin is None:
                begin = moment
            elif is_up and begin is not None:
                found.append((begin, moment))
                begin = None
        return found


def recorded(reach, number):
    """The outages of a device's probe by the history, in seconds of the boot clock."""
    text = subprocess.run(
        [reach.reach, "history", "--json", "--state", reach.state, f"probe:d{number}"], capture_output=True, text=True).stdout
    found, begin = [], None
    for line in map(json.loads, text.splitlines()):
        if line.get("status") == "not-reachable":
            begin = line["boottime_ns"] / 1e9 if begin is None else begin
        elif line.get("status") == "reachable" and begin is not None:
            found.append((begin, line["boottime_ns"] / 1e9))
            begin = None
    return found


def compare(report, who, outages, truth, bound):
    """Whether each device has its one outage, with begin and end at most an interval beside the truth."""
    counts = [len(found) for found in outages]
    whole = [(found[0], true) for found, true in zip(outages, truth) if len(found) == 1]
    worst = max((abs(one - other) for found, true in whole for one, other in zip(found, true)), default=None)
    what = f"{sum(counts)} outages of {COUNT} devices, {len(whole)} have one; the farthest edge is so far from the truth"
    if bound is None:
        report.note(worst, who, what)
    else:
        report.check(len(whole) == COUNT == sum(counts), worst, who, what, bound)


def devices(report, options, directory):
    lan, machine = new_namespace(), new_namespace()
    run("sysctl", "-qw", "net.ipv4.ping_group_range=0 2147483647")
    devices = [f"{address(number)}/24" for number in range(COUNT)]
    wire(machine, "lan0", ["192.0.2.2/24"], lan, "far0", ["192.0.2.1/24", *devices])
    run("ip", "route", "add", "default", "via", "192.0.2.1")
    probes = "".join(
        f'[[probe]]\nname = "d{number}"\ntarget = "icmp://{address(number)}"\ninterval = "{INTERVAL}s"\n'
        for number in range(COUNT))
    with contextlib.ExitStack() as stack:
        reach = stack.enter_context(Reach(options, directory, probes))
        pings = Pings(stack)
        exporter = Exporter(stack, directory) if shutil.which("prometheus-blackbox-exporter") else None
        deadline = now() + 30
        while any(probe["state"] != "up" for probe in reach.probes().values()) and now() < deadline:
            time.sleep(0.2)
        begin = now() + 1
        # Gone at one moment of the interval, back at another one.
        turns = [(begin + INTERVAL * number / COUNT, number, "del") for number in range(COUNT)]
        turns += [(begin + OFF + INTERVAL * (7 * number % COUNT) / COUNT, number, "add") for number in range(COUNT)]
        truth = [[0.0, 0.0] for _ in range(COUNT)]
        for moment, number, change in sorted(turns):
            time.sleep(max(0, moment - now()))
            run_in(lan, "ip", "address", change, f"{address(number)}/24", "dev", "far0")
            truth[number][0 if change == "del" else 1] = now()
        time.sleep(3 * INTERVAL)
        late = re.findall(r"probe \S+ is paused", reach.said())
        report.check(not late, None, "reach probes", f"{len(late)} pauses: the path is not to blame")
        # An attempt begins at most a twentieth of the interval late.
        bound = INTERVAL * 1.05 + 1
        compare(report, "history", [recorded(reach, number) for number in range(COUNT)], truth, bound)
        compare(report, "ping", [pings.outages(number) for number in range(COUNT)], truth, bound)
        if exporter:
            compare(report, "blackbox", [exporter.outages(number) for number in range(COUNT)], truth, None)


SCENES = {"devices": ("twenty devices of the own network go and come", devices)}


def play(names, report, options, directory):
    for name in names:
        report.begin(name, SCENES[name][0])
        with tempfile.TemporaryDirectory(dir=directory) as own:
            SCENES[name][1](report, options, own)
