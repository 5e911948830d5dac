"""Measures `reachd`: with many subscribers, with clients that misbehave, killed at random moments, and idle."""

import bisect
import contextlib
import json
import math
import os
import random
import re
import resource
import selectors
import shutil
import socket
import subprocess
import threading
import time

from measuring import (ELSEWHERE, GATEWAY, LINK, await_listening, cpu_ns, median, memory_kib, network, one_shots,
                       print_table, quantile, ratio, settle, shown, started, switches)

WATCH = b'{"method":"io.reach.Monitor.Watch","more":true}\0'
STATUS = b'{"method":"io.reach.Monitor.Status"}\0'
BOOTTIME = re.compile(rb'"boottime_ns":(\d+)')
SEQUENCE = re.compile(rb'"seq":(\d+)')
COUNT = re.compile(rb'"count":(\d+)')


# ---------------------------------------------------------------- the daemon and its clients


def reachd(bench, *more):
    state = bench.directory / "state"
    state.mkdir(exist_ok=True)
    return [bench.reachd, "--socket", str(bench.directory / "socket"), "--state", str(state), *more]


@contextlib.contextmanager
def daemon(bench, *more, **options):
    """Starts a daemon and waits until it answers. Its log is discarded."""
    options.setdefault("stderr", subprocess.DEVNULL)
    with started(reachd(bench, *more), **options) as process:
        await_answer(bench, process)
        await_listening(process)
        yield process


def connect(bench):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(10)
    client.connect(str(bench.directory / "socket"))
    return client


def call(client, message):
    """Calls a method, and returns the first reply."""
    client.sendall(message)
    reply = b""
    while not reply.endswith(b"\0"):
        piece = client.recv(65536)
        if not piece:
            raise ConnectionError("the daemon hung up")
        reply += piece
    return json.loads(reply[:-1])


def await_answer(bench, process, limit=10):
    deadline = time.monotonic() + limit
    while True:
        with contextlib.suppress(OSError):
            with connect(bench) as client:
                return call(client, STATUS)
        if process.poll() is not None:
            raise RuntimeError(f"reachd ended with {process.returncode}")
        if time.monotonic() > deadline:
            raise RuntimeError(f"reachd does not answer within {limit} s")
        time.sleep(0.002)


def descriptors(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


class Subscriber:
    """A connection that watches. It records when each change was decided, and how many events were dropped."""

    def __init__(self, bench):
        self.socket = connect(bench)
        self.socket.sendall(WATCH)
        self.socket.setblocking(False)
        self.rest = b""
        self.changes = []
        self.dropped = 0
        self.events = 0
        self.broken = None

    def read(self):
        while True:
            try:
                piece = self.socket.recv(262144)
            except BlockingIOError:
                return
            if not piece:
                self.broken = self.broken or "the daemon hung up"
                return
            *messages, self.rest = (self.rest + piece).split(b"\0")
            for message in messages:
                self.handle(message)

    def handle(self, message):
        found = SEQUENCE.search(message)
        if not found:
            self.broken = self.broken or f"no event: {message[:200]!r}"
            return
        self.events += 1
        if int(found[1]) != self.events:
            self.broken = self.broken or f"event {found[1].decode()} came as number {self.events}"
        if b'"type":"change"' in message:
            self.changes.append(int(BOOTTIME.search(message)[1]))
        elif b'"type":"dropped"' in message:
            self.dropped += int(COUNT.search(message)[1])

    def fault(self, reference):
        """What is wrong with the events that it received, if the changes were `reference`; None if nothing."""
        if self.broken:
            return self.broken
        if len(self.changes) + self.dropped != len(reference):
            return f"{len(self.changes)} changes and {self.dropped} dropped, of {len(reference)}"
        place = iter(reference)
        if not all(moment in place for moment in self.changes):
            return "changes out of order, or changes that no other subscriber received"
        return None


class Crowd:
    """Subscribers, read by one thread until all events have arrived."""

    def __init__(self, bench, count):
        self.selector = selectors.DefaultSelector()
        self.members = [Subscriber(bench) for _ in range(count)]
        for member in self.members:
            self.selector.register(member.socket, selectors.EVENT_READ, member)
        self.latest = time.monotonic()
        self.is_over = False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.is_over:
            for key, _ in self.selector.select(0.1):
                key.data.read()
                self.latest = time.monotonic()
                if key.data.broken:
                    self.selector.unregister(key.data.socket)

    def settle(self, quiet=0.5):
        """Waits until nothing has arrived for `quiet` seconds."""
        while time.monotonic() - self.latest < quiet:
            time.sleep(0.05)

    def __enter__(self):
        while any(member.events == 0 and not member.broken for member in self.members):
            time.sleep(0.01)
        self.settle()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()
        self.selector.close()
        for member in self.members:
            member.socket.close()


def change(bench, count, pace_us):
    """Deletes and adds the default route, `count` times in turn; returns the time of each request to the kernel."""
    stamps = bench.directory / "stamps"
    bench.disturb("poke", "route", count, pace_us, LINK, GATEWAY, stamps)
    return [int(line.split()[0]) for line in stamps.read_text().splitlines()]


def reactions(stamps, decided):
    """Microseconds from each request to the kernel until the engine's decision.

    If the daemon did not get to run before the next request undid this one, there was no change to report.
    """
    ends = [*stamps[1:], math.inf]
    places = [bisect.bisect_left(decided, stamp) for stamp in stamps]
    return [(decided[place] - stamp) / 1000 for stamp, end, place in zip(stamps, ends, places)
            if place < len(decided) and decided[place] < end]


# ---------------------------------------------------------------- sections


def crowd(bench):
    """500 subscribers, 20 changes a second for a minute."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    many, seconds, pace_us = 500, bench.size(60, 6), 50_000
    count = seconds * 1_000_000 // pace_us
    result = {"subscribers": many, "changes": count}
    with network(bench.own_mounts), daemon(bench) as process:
        with Crowd(bench, 1) as one:
            stamps = change(bench, min(count, 200), pace_us)
            one.settle()
            result["idle"] = reactions(stamps, one.members[0].changes)
        settle(process)
        before = memory_kib(process)["dirty_kib"], descriptors(process)
        with Crowd(bench, many) as all_of_them:
            with_all = memory_kib(process)["dirty_kib"]
            busy = cpu_ns(process)
            stamps = change(bench, count, pace_us)
            all_of_them.settle()
            result["cpu_percent"] = (cpu_ns(process) - busy) / 1e7 / seconds
            peak = memory_kib(process)["dirty_kib"]
            # All subscribers receive the same events; the one that received most is the reference for the others.
            reference = max((member.changes for member in all_of_them.members), key=len)
            result["crowded"] = reactions(stamps, reference)
            result["undone"] = count - len(result["crowded"])
            faults = [fault for member in all_of_them.members if (fault := member.fault(reference))]
            result["dropped"] = sum(member.dropped for member in all_of_them.members)
        settle(process)
        after = memory_kib(process)["dirty_kib"], descriptors(process)
    for fault in faults[:3]:
        print(f"  {fault}")
    rows = []
    for name in ("idle", "crowded"):
        values = result[name]
        result[name] = {"median_us": median(values), "p90_us": quantile(values, 0.9), "p99_us": quantile(values, 0.99)}
        rows.append([f"{1 if name == 'idle' else many} subscribed", len(values), *map(shown, result[name].values())])
    print_table(f"{many} subscribers, 20 changes a second for {seconds} s: from request to decision",
                ["microseconds", "changes", "median", "p90", "p99"], rows)
    print_table("Private dirty memory", ["KiB", "before", "with all", "at the end", "without them"],
                [["", before[0], with_all, peak, after[0]]])
    print(f"  {result['cpu_percent']:.0f} % of a CPU; {result['dropped']} events dropped in all; {result['undone']} of "
          f"{count} changes late, or undone before the machine let the daemon see them")
    result |= {"dirty_kib": [before[0], with_all, peak, after[0]]}
    check = bench.report.check
    check("daemon-crowd: subscribers with something missing or out of order", len(faults), 0, 0)
    check("daemon-crowd: reaction with all to that with one", ratio(result["crowded"]["median_us"],
                                                                    result["idle"]["median_us"]), 2)
    check("daemon-crowd: growth of private dirty memory when they are gone, in KiB", after[0] - before[0], 1024, 0)
    check("daemon-crowd: descriptors more than before", after[1] - before[1], 0, 0)
    return result


def garble(bench, stop):
    """Repeatedly sends random bytes from a hundred connections."""
    garbage = random.Random(1)
    clients = []
    while not stop.is_set():
        while len(clients) < 100:
            with contextlib.suppress(OSError):
                clients.append(connect(bench))
        for client in clients[:]:
            with contextlib.suppress(OSError):
                client.setblocking(False)
                client.send(garbage.randbytes(garbage.randrange(1, 4096)))
                with contextlib.suppress(BlockingIOError):
                    if client.recv(4096) == b"":
                        raise ConnectionError
                continue
            clients.remove(client)
            client.close()
        stop.wait(0.05)
    for client in clients:
        client.close()


def knock(bench, seconds, pace):
    """Connects and closes at this pace; returns how many times."""
    begun, count = time.monotonic(), 0
    while (elapsed := time.monotonic() - begun) < seconds:
        if count < elapsed * pace:
            with contextlib.suppress(OSError):
                connect(bench).close()
            count += 1
        else:
            time.sleep(0.0005)
    return count


def ask(bench, stop, times):
    """Queries the status ten times a second, as other clients would, and records how long that takes."""
    while not stop.wait(0.1):
        begun = time.monotonic()
        with connect(bench) as client:
            call(client, STATUS)
        times.append((time.monotonic() - begun) * 1000)


def abuse(bench):
    """100 clients that never read, 100 that send random bytes, and 1,000 connects a second must not harm other clients."""
    seconds = bench.size(10, 3)
    with network(bench.own_mounts), daemon(bench) as process, contextlib.ExitStack() as stack:
        settle(process)
        before = descriptors(process), memory_kib(process)["dirty_kib"]
        good = stack.enter_context(Crowd(bench, 10))
        silent = [connect(bench) for _ in range(100)]
        for client in silent:
            client.sendall(WATCH)
        stop, times = threading.Event(), []
        threads = [threading.Thread(target=garble, args=(bench, stop)),
                   threading.Thread(target=ask, args=(bench, stop, times)),
                   threading.Thread(target=lambda: knocks.append(knock(bench, seconds, 1000)))]
        knocks = []
        for thread in threads:
            thread.start()
        stamps = change(bench, seconds * 20, 50_000)
        stop.set()
        for thread in threads:
            thread.join()
        good.settle()
        reference = max((member.changes for member in good.members), key=len)
        faults = [fault for member in good.members if (fault := member.fault(reference))]
        faults += [] if len(reference) == len(stamps) else [f"{len(reference)} changes were reported, of {len(stamps)}"]
        for client in silent:
            client.close()
        stack.close()
        settle(process)
        after = descriptors(process), memory_kib(process)["dirty_kib"]
    for fault in faults[:3]:
        print(f"  {fault}")
    print_table(f"100 silent, 100 that send garbage, {knocks[0] / seconds:.0f} connects a second for {seconds} s",
                ["", "median", "p99", "most"],
                [["a status meanwhile, ms", *(shown(value, 2) for value in (
                    median(times), quantile(times, 0.99), max(times)))]])
    check = bench.report.check
    check("daemon-abuse: good subscribers with something missing", len(faults), 0, 0)
    check("daemon-abuse: p99 of a status meanwhile, in ms", quantile(times, 0.99), 50)
    check("daemon-abuse: descriptors more than before", after[0] - before[0], 0, 0)
    check("daemon-abuse: growth of private dirty memory in KiB", after[1] - before[1], 1024, 0)
    return {"connects_per_s": knocks[0] / seconds, "status_ms": {"median": median(times), "p99": quantile(times, 0.99)},
            "descriptors": [before[0], after[0]], "dirty_kib": [before[1], after[1]]}


class Follower:
    """A `reach watch` that runs during all rounds."""

    def __init__(self, bench, stack, number):
        self.path = bench.directory / f"followed-{number}"
        output = stack.enter_context(self.path.open("wb"))
        argv = [bench.reach, "watch", "--json", "--socket", str(bench.directory / "socket")]
        self.process = stack.enter_context(started(argv, stdout=output, stderr=subprocess.DEVNULL))

    def events(self):
        whole = self.path.read_bytes().rpartition(b"\n")[0]
        return [json.loads(line) for line in whole.splitlines()]

    def fault(self, holds, limit=10):
        """What is wrong with its events, if `holds` is the current status; None if nothing. It may have to reconnect first."""
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline:
            events = self.events()
            back = any(event["type"] == "reconnected" for event in events[-2:])
            if self.process.poll() is not None:
                return f"reach watch ended with {self.process.returncode}"
            if back and self.latest(events)["status"] == holds:
                numbers = [event["seq"] for event in events]
                return None if numbers == list(range(1, len(numbers) + 1)) else "its numbers have gaps"
            time.sleep(0.1)
        return f"its last events are {[event['type'] for event in events[-3:]]}, and it holds {self.latest(events)}"

    @staticmethod
    def latest(events):
        return next(event["status"] for event in reversed(events) if event["type"] in ("snapshot", "change"))

    def reconnections(self):
        return sum(event["type"] == "reconnected" for event in self.events())


def kill(bench):
    """kill -9 at random moments, during changes: the daemon starts again, clients reconnect, and the history is readable."""
    rounds = bench.size(200, 20)
    moments = random.Random(2)
    starts, unread, records, lost = [], 0, 0, 0
    history = [bench.reach, "history", "--json", "--state", str(bench.directory / "state")]
    with network(bench.own_mounts), contextlib.ExitStack() as stack:
        storm = stack.enter_context(started(
            [bench.storm, "poke", "route", "1000000", "2000", LINK, GATEWAY, str(bench.directory / "poked")]))
        followers = []
        for _ in range(rounds):
            with started(reachd(bench), stderr=subprocess.DEVNULL) as process:
                begun = time.monotonic()
                await_answer(bench, process)
                starts.append((time.monotonic() - begun) * 1000)
                if not followers:
                    followers = [Follower(bench, stack, number) for number in range(3)]
                    while not all(follower.events() for follower in followers):
                        time.sleep(0.01)
                time.sleep(moments.uniform(0, 0.2))
                process.kill()
                process.wait()
            printed = subprocess.run(history, capture_output=True, check=False)
            lines = printed.stdout.splitlines()
            unread += printed.returncode != 0 or any(json.loads(line)["v"] != 1 for line in lines)
            # No earlier record may be missing: until a file is full, lines are only added.
            lost += len(lines) < records < 10_000
            records = len(lines)
        # Also during the start.
        for _ in range(rounds // 4):
            with started(reachd(bench), stderr=subprocess.DEVNULL) as process:
                time.sleep(moments.uniform(0, 0.02))
                process.kill()
                process.wait()
        storm.kill()
        storm.wait()
        with started(reachd(bench), stderr=subprocess.DEVNULL) as process:
            holds = await_answer(bench, process)["parameters"]["status"]["status"]
            faults = [fault for follower in followers if (fault := follower.fault(holds))]
        reconnections = [follower.reconnections() for follower in followers]
    for fault in faults:
        print(f"  {fault}")
    print_table(f"{rounds} times kill -9 at random moments, with 500 changes a second",
                ["", "median", "p99", "most", "records at the end", "each watch reconnected"],
                [["until it answers again, ms", *(shown(value) for value in (
                    median(starts), quantile(starts, 0.99), max(starts))), records,
                  f"{min(reconnections)} times or more"]])
    check = bench.report.check
    check("daemon-kill: starts that failed", rounds - len(starts), 0, 0)
    check("daemon-kill: watches that did not return to the current state", len(faults), 0, 0)
    check("daemon-kill: histories that could not be read", unread, 0, 0)
    check("daemon-kill: histories that had lost records", lost, 0, 0)
    return {"rounds": rounds, "start_ms": {"median": median(starts), "p99": quantile(starts, 0.99)}, "records": records}


def idle(bench):
    seconds = bench.size(60, 10)
    with network(bench.own_mounts), daemon(bench) as process, Crowd(bench, 10):
        settle(process)
        time.sleep(3)
        memory = memory_kib(process)
        before, cpu = switches(process), cpu_ns(process)
        time.sleep(seconds)
        tasks = switches(process)
        counted = sum(count - before.get(task, 0) for task, count in tasks.items()) + len(before.keys() - tasks.keys())
        cpu = (cpu_ns(process) - cpu) / 1000
    print_table(f"reachd with 10 subscribers, idle for {seconds} s",
                ["", "context switches", "CPU us", "threads", "RSS KiB", "PSS KiB", "private dirty KiB"],
                [["reachd", counted, shown(cpu), len(tasks), memory["rss_kib"], memory["pss_kib"], memory["dirty_kib"]]])
    bench.report.check("daemon-idle: context switches", counted, 0, 0)
    bench.report.check("daemon-idle: private dirty KiB", memory["dirty_kib"], 4096, 0)
    return {"switches": counted, "cpu_us": cpu, **memory}


def status(bench):
    """Like the section `status`, but the daemon answers."""
    commands = {
        "reach status, asking reachd": [bench.reach, "status", "--socket", str(bench.directory / "socket")],
        "ip route get": [shutil.which("ip"), "route", "get", ELSEWHERE],
    }
    with network(bench.own_mounts), daemon(bench):
        found = one_shots(commands, bench.size(300, 40))
    result = {name: {"median_ms": median(values), "p99_ms": quantile(values, 0.99)} for name, (values, _, _) in found.items()}
    base = result["ip route get"]["median_ms"]
    print_table("One answer through the socket, from exec to exit", ["milliseconds", "median", "p99", "to ip"],
                [[name, shown(row["median_ms"], 2), shown(row["p99_ms"], 2), shown(ratio(row["median_ms"], base), 2)]
                 for name, row in result.items()])
    reach = next(iter(commands))
    bench.report.check("daemon-status: reach to ip", ratio(result[reach]["median_ms"], base), 2.5)
    bench.report.check("daemon-status: exit status", max(map(abs, found[reach][2])), 0, 0)
    return result
