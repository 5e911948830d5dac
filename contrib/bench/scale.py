"""Measures what `reachd` costs as targets and subscribers become more."""

import contextlib
import resource
import selectors
import socket
import subprocess
import time

from daemon import await_answer, change, reachd
from measuring import GATEWAY, LINK, await_listening, cpu_ns, ip, memory_kib, network, print_table, settle, shown, started

WATCH = b'{"method":"io.reach.Monitor.Watch","more":true,"parameters":{"target":"%s"}}\0'
CHANGE = b'"type":"change"'
DROPPED = b'"type":"dropped"'


def address(number):
    """An address that only a default route reaches. Nothing is sent to it: RFC 2544 reserves it for benchmarks."""
    return f"198.18.{number // 250}.{number % 250 + 1}"


@contextlib.contextmanager
def scaled_daemon(bench, targets):
    """Starts a daemon with this many configured targets, and no limit that would keep the clients away."""
    configuration = bench.directory / "scale.toml"
    names = "".join(f't{number} = "{address(number)}"\n' for number in range(targets))
    configuration.write_text(f"[targets]\n{names}[limits]\ntargets = 4096\nconnections = 16384\n"
                             "connections_per_user = 16384\n")
    log = (bench.directory / "log").open("wb")
    with log, started(reachd(bench, "--config", str(configuration)), bench.processors[1], stderr=log) as process:
        await_answer(bench, process)
        await_listening(process)
        yield process


class Audience:
    """Subscribers that read everything, without keeping it."""

    def __init__(self, bench, targets):
        self.selector = selectors.DefaultSelector()
        self.sockets = []
        self.changes = self.dropped = 0
        for target in targets:
            client = socket.socket(socket.AF_UNIX)
            client.settimeout(10)
            client.connect(str(bench.directory / "socket"))
            client.sendall(WATCH % target.encode())
            client.setblocking(False)
            self.selector.register(client, selectors.EVENT_READ)
            self.sockets.append(client)

    def read(self, seconds):
        """Reads until nothing has come for so long."""
        while ready := self.selector.select(seconds):
            for key, _ in ready:
                data = key.fileobj.recv(1 << 18)
                if not data:
                    raise RuntimeError("the daemon hung up")
                self.changes += data.count(CHANGE)
                self.dropped += data.count(DROPPED)

    def close(self):
        for client in self.sockets:
            client.close()
        self.selector.close()


def one_size(bench, count, subscribers, changes):
    """The CPU time of a change, and memory, with `count` targets that all change."""
    with network(bench.own_mounts), scaled_daemon(bench, count) as process:
        began = cpu_ns(process) / 1e6
        # The first change maps the code of a change, which subscribers do not add to.
        change(bench, 2, 100_000)
        settle(process)
        before = memory_kib(process)["dirty_kib"]
        audience = Audience(bench, [f"t{number % count}" for number in range(subscribers)])
        audience.read(0.5)
        settle(process)
        spent = cpu_ns(process)
        # The subscribers read afterwards: until then the backlogs grow to what they may have.
        change(bench, changes, 100_000)
        settle(process)
        peak = memory_kib(process)["dirty_kib"]
        audience.read(0.5)
        settle(process)
        cost = (cpu_ns(process) - spent) / 1e6 / changes
        audience.close()
        return {"start_ms": began, "change_ms": cost, "dirty_kib": [before, peak], "received": audience.changes,
                "dropped": audience.dropped}


def targets(bench):
    """All targets have another status after each change of the default route."""
    changes = bench.size(40, 10)
    result, rows = {}, []
    for count in bench.size([10, 100, 1000], [10, 100]):
        for subscribers in (0, count):
            entry = one_size(bench, count, subscribers, changes)
            result[f"{count}/{subscribers}"] = entry
            before, peak = entry["dirty_kib"]
            rows.append([f"{count} targets", subscribers, shown(entry["start_ms"], 0), shown(entry["change_ms"], 2),
                         before, peak - before, entry["dropped"]])
    print_table(f"Targets that change with the default route ({changes} changes)",
                ["", "subscribers", "start CPU ms", "CPU ms a change", "private dirty KiB", "more", "dropped"], rows)
    for count, bound in ((100, 2.5), (1000, 25)):
        if f"{count}/0" in result:
            bench.report.check(f"targets: CPU ms a change, {count} targets", result[f"{count}/0"]["change_ms"], bound)
    largest = max(int(name.split("/")[0]) for name in result)
    before, peak = result[f"{largest}/{largest}"]["dirty_kib"]
    bench.report.check(f"targets: growth of private dirty memory in KiB, {largest} slow subscribers", peak - before, 8192, 0)
    bench.report.curve(
        "targets", "CPU time of a change of the default route", "targets that change with it", "ms",
        {name: [(int(key.split("/")[0]), entry["change_ms"]) for key, entry in result.items()
                if key.endswith("/0") == (name == "alone")] for name in ("alone", "each subscribed")},
        bound=(1000, 25))
    return result


@contextlib.contextmanager
def audience(bench, count):
    """Runs `count` subscribers of the Internet in one process; afterwards its file has the changes."""
    with (bench.directory / "audience").open("wb") as output:
        with started([bench.storm, "audience", str(count), str(bench.directory / "socket"), "internet",
                      str(bench.directory / "changes")], bench.processors[0], stdin=subprocess.PIPE,
                     stdout=output) as process:
            deadline = time.monotonic() + 60
            while not (bench.directory / "audience").read_bytes():
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError("the subscribers do not get their first state")
                time.sleep(0.01)
            yield
            process.stdin.close()
            process.wait(10)


def one_crowd(bench, count, changes=10):
    """What `count` subscribers of one target take, and how long a change to all of them lasts."""
    with network(bench.own_mounts), scaled_daemon(bench, 0) as process:
        before = memory_kib(process)["dirty_kib"]
        with audience(bench, count):
            settle(process)
            each = (memory_kib(process)["dirty_kib"] - before) / count
            spent = cpu_ns(process)
            for number in range(changes):
                ip("route", *(["add", "default", "via", GATEWAY, "dev", LINK] if number % 2 else ["del", "default"]))
                settle(process)
            cost = (cpu_ns(process) - spent) / 1e6 / changes
        lines = (bench.directory / "changes").read_text().splitlines()
    read = [tuple(map(int, line.split())) for line in lines]
    return {"kib_each": each, "change_ms": min((latest - decided) / 1e6 for decided, latest, _ in read),
            "cpu_ms": cost, "complete": [readers for _, _, readers in read] == [count] * changes}


def subscribers(bench):
    """Subscribers of one target: what each takes, and how long a change to all of them lasts."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    result, rows = {}, []
    for count in bench.size([50, 500, 5000], [50, 500]):
        entry = result[count] = one_crowd(bench, count)
        rows.append([f"{count} subscribers", shown(entry["kib_each"], 2), shown(entry["change_ms"], 1),
                     shown(entry["cpu_ms"], 2), entry["complete"]])
    print_table("One change to all subscribers of one target",
                ["", "private dirty KiB each", "ms to the last, best of 10", "CPU ms", "complete"], rows)
    most = max(result)
    bench.report.check(f"subscribers: private dirty KiB each, {most} idle", result[most]["kib_each"], 4)
    bench.report.check(f"subscribers: ms until all {most} have read a change", result[most]["change_ms"], 100)
    bench.report.check("subscribers: sizes at which one missed a change",
                       sum(not entry["complete"] for entry in result.values()), 0, 0)
    bench.report.curve("subscribers", "A change to all subscribers of a target", "subscribers", "ms",
                       {"until the last has it": [(count, entry["change_ms"]) for count, entry in result.items()],
                        "CPU time of reachd": [(count, entry["cpu_ms"]) for count, entry in result.items()]},
                       bound=(5000, 100))
    return result
