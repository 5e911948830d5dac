"""Texts without limit, and numbers that no clock has: by a user through the control socket."""

import contextlib
import json
import os
import re
import socket
import subprocess
import time
from pathlib import Path

from ground import A, ADD, ADD_URL, B, BLACK_HOLE, DAEMON, WAITS, WELL, Client, Failure, Fork, Refused, Skip, someone
from neighbours import at_rest, flood_by_many, frames, hold_watches
from programs import ROOT
from servers import well
from table import attack

LONGEST_CONDITION, LONGEST_TARGET, LONGEST_KEY = 4096, 2048, 1024
TEN_YEARS = 3650 * 86_400_000


def condition(terms, width=0):
    return ",".join(f"not network=net-{number:0{width}}" for number in range(terms))


def flood_by_kinds(path, calls, copies, seconds=20):
    """Several connections for each call, each of which calls again as soon as it is answered."""
    import selectors
    selector = selectors.DefaultSelector()
    for call in calls * copies:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(path))
        connection.setblocking(False)
        selector.register(connection, selectors.EVENT_READ | selectors.EVENT_WRITE, [call, 0])
    deadline, answers = time.monotonic() + seconds, 0
    while time.monotonic() < deadline and selector.get_map():
        for key, events in selector.select(1):
            call, sent = key.data
            try:
                if events & selectors.EVENT_READ:
                    piece = key.fileobj.recv(1 << 20)
                    if not piece:
                        raise OSError
                    if piece.endswith(b"\0"):
                        answers += 1
                        key.data[1] = sent = 0
                        selector.modify(key.fileobj, selectors.EVENT_READ | selectors.EVENT_WRITE, key.data)
                if events & selectors.EVENT_WRITE and sent < len(call):
                    key.data[1] = sent + key.fileobj.send(call[sent:])
                    if key.data[1] == len(call):
                        selector.modify(key.fileobj, selectors.EVENT_READ, key.data)
            except BlockingIOError:
                pass
            except OSError:
                selector.unregister(key.fileobj)
    return answers


def refusals(client, calls):
    """The calls that are not refused with the name of the parameter."""
    wrong = []
    for method, name, parameters in calls:
        try:
            client.call(method, **parameters)
            wrong.append(f"{method} accepts {name}")
        except Refused as refused:
            if (refused.error, refused.parameters.get("parameter")) != ("InvalidParameter", name):
                wrong.append(f"{method} answers {refused} to {name}")
    return wrong


@attack("long conditions", "A adds requests with 984 KiB of when, 46,000 terms, by four connections, again and again",
        "each is refused with the parameter's name", measures=True)
def long_conditions(ground):
    ground.start()
    when = condition(46_000)
    with ground.client(A, patience=60) as a:
        attack_ = ground.attack(flood_by_many, ground.socket, 4, frames("Queue.Add", {**ADD, "when": when}, 1))
        time.sleep(0.3)
        ground.measure()
        attack_.end()
        wrong = refusals(a, [("Queue.Add", "when", {**ADD, "when": when}), ("Queue.Add", "when", {**ADD, "when": "any," * 1025})])
    return at_rest(ground, "; ".join(wrong) or "refused", not wrong)


LONG = ["a" * 1_000_000, "e" + "\u0301" * 300_000, "/" * 1_000_000, "https://host.example/" + "a" * 900_000, "any," * 200_000]


@attack("long texts", "A calls Status, Explain, Probe and Add with texts of a megabyte: letters, one letter with 300,000 accents, slashes, a URL, commas",
        "each is refused with the parameter's name", measures=True)
def long_texts(ground):
    ground.start()
    places = [("Monitor.Status", "target", {}), ("Monitor.Explain", "target", {}), ("Monitor.Probe", "target", {}),
              ("Queue.Add", "url", {}), ("Queue.Add", "when", ADD), ("Queue.Add", "key", ADD), ("Queue.Add", "method", ADD)]
    def call(method, parameters):
        text = json.dumps({"method": f"io.reach.{method}", "parameters": parameters}, ensure_ascii=False)
        return text.encode() + b"\0"
    calls = [call(method, {**more, name: text}) for text in LONG for method, name, more in places]
    attack_ = ground.attack(flood_by_kinds, ground.socket, calls[::2], 1)
    time.sleep(0.3)
    ground.measure()
    attack_.end()
    with ground.client(A, patience=60) as a:
        wrong = refusals(a, [(method, name, {**more, name: "a" * 70_000}) for method, name, more in places])
    return at_rest(ground, "; ".join(wrong[:3]) or "refused", not wrong)


@attack("conditions at their limit", "A adds requests with the longest when, the longest keys and as many terms as are allowed; the daemon is killed",
        "all that were confirmed are there after the restart, as they were")
def conditions_at_limit(ground):
    ground.start()
    texts = [condition(64), condition(52, 58)[:LONGEST_CONDITION].rpartition(",")[0], "any" + " " * (LONGEST_CONDITION - 3),
             condition(6000), condition(3500)]
    with ground.client(A) as a:
        confirmed = {}
        for number, when in enumerate(texts):
            with contextlib.suppress(Refused):
                confirmed[a.add(ADD_URL, when="wwan," + when[:-5] if when.endswith("     ") else when,
                                key="k" * LONGEST_KEY + "" if number == 0 else None, idempotency_key="i" * 900)] = when
        with contextlib.suppress(Refused):
            confirmed[a.add(ADD_URL, when="wwan", order="\0" + "o" * (LONGEST_KEY - 1))] = ""
        before = {number: a.show(number)["when"] for number in confirmed}
    ground.kill()
    ground.start()
    lost = []
    with ground.client(A) as a:
        for number, when in before.items():
            try:
                if a.show(number)["when"] != when:
                    lost.append(f"{number} waits for something else")
            except Refused as refused:
                lost.append(f"{number}: {refused.error}")
    seen = f"{len(confirmed)} confirmed, {len(lost)} of them lost"
    if lost or len(confirmed) < 3:
        raise Failure(f"{seen}: {lost[:2]}")
    return seen


@attack("bytes of conditions", "A adds 1,500 requests with 4 KiB of when each, and with 41 KiB, under a limit of 4 MiB for each user",
        "A has no more than 4 MiB of them", configuration="[queue]\nbytes_per_user = 4194304\n", measures=True)
def bytes_of_conditions(ground):
    ground.start()
    long = condition(52, 58)[:LONGEST_CONDITION].rpartition(",")[0]
    forks = ground.attack(add_conditions, ground.socket, [long, condition(1900)], 190, copies=4)
    time.sleep(0.3)
    ground.measure(1)
    taken = [sum(counts) for counts in zip(*(fork.result() for fork in forks))]
    size = ground.spool_bytes()
    seen = f"{taken[0]} and {taken[1]} of them taken, {size:.1f} MiB on disk"
    if taken[0] * len(long) + taken[1] * 41_000 > 4 << 20 or size > 16:
        raise Failure(seen)
    return seen


def add_conditions(path, conditions, count):
    taken = [0] * len(conditions)
    with Client(path, 60) as client:
        for index in range(count):
            for number, when in enumerate(conditions):
                with contextlib.suppress(Refused):
                    client.add(f"{ADD_URL}/{index}", when=when)
                    taken[number] += 1
    return taken


@attack("long URLs that are watched", "A watches 256 URLs of 0.9 MB, and 256 of 2 KiB, all of one host, and hangs up",
        "the daemon grows by less than 16 MiB, watches one host for them, and gives back what it held", measures=True)
def long_urls(ground):
    ground.start()
    before = ground.rss()
    held = []
    for length in (900_000, LONGEST_TARGET):
        marker = ground.public / f"watched-{length}"
        urls = [f"https://192.0.2.77/{index}-".ljust(length, "a") for index in range(256)]
        held.append(ground.attack(hold_watches, ground.socket, urls, marker))
        deadline = time.monotonic() + 25
        while not marker.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
            ground.must_live()
    counts = [(ground.public / f"watched-{length}").read_text() for length in (900_000, LONGEST_TARGET)]
    ground.measure(1)
    grown = ground.rss() - before
    for fork in held:
        fork.end()
    time.sleep(1)
    left = ground.rss() - before
    seen = f"{counts[0]} and {counts[1]} watched; grew by {grown:.0f} MiB, of which {left:.0f} are left"
    if grown > 16 or left > 8 or counts[0] != "0":
        raise Failure(seen)
    return seen


@attack("keys and times beyond their limits", "A adds requests with keys of 600,000 bytes, with expires_ms of 2^63-1 and of ten years; the daemon is restarted",
        "the first are refused, and what is confirmed ends when it did before")
def beyond_limits(ground):
    ground.start()
    with ground.client(A) as a:
        wrong = refusals(a, [("Queue.Add", name, {**ADD, name: "k" * size}) for name in ("idempotency_key", "key", "order")
                             for size in (600_000, LONGEST_KEY + 1)])
        confirmed = {}
        for time_ in (2**63 - 1, TEN_YEARS + 1, TEN_YEARS, 1000 * 86_400):
            with contextlib.suppress(Refused):
                number = a.add(ADD_URL, **WAITS, expires_ms=time_)
                confirmed[number] = (time_, a.show(number)["deadline"], a.show(number)["created"])
    ground.stop()
    ground.start()
    with ground.client(A) as a:
        for number, (time_, deadline, created) in confirmed.items():
            request = a.show(number)
            if request["deadline"][:16] != deadline[:16] or request["created"][:16] != created[:16]:
                wrong.append(f"expires_ms {time_} is {deadline} and then {request['deadline']}, created {request['created']}")
    seen = f"{len(confirmed)} confirmed"
    if wrong or len(confirmed) != 2:
        raise Failure(f"{seen}; {'; '.join(wrong[:2])}")
    return seen


@attack("strangers with one number", "a caller whom the daemon's user namespace has no number for adds and lists requests",
        "it has no queue")
def strangers(ground):
    ground.start()
    number = int(Path("/proc/sys/kernel/overflowuid").read_text())
    wrong = []
    with ground.client(number) as stranger:
        for method, parameters in (("Queue.Add", ADD), ("Queue.List", {}), ("Queue.Cancel", {"id": 1}), ("Queue.Hold", {"all": True})):
            try:
                stranger.call(method, **parameters)
                wrong.append(method)
            except Refused as refused:
                if refused.error != "NotPermitted":
                    wrong.append(f"{method}: {refused.error}")
        stranger.call("Monitor.Status")
    if wrong:
        raise Failure(", ".join(wrong))
    return "NotPermitted"


def listen_as_daemon(path, marker):
    """A daemon of A's: writes down what it gets."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    os.chmod(path, 0o777)
    listener.listen()
    marker.with_suffix(".ready").write_text("")
    while True:
        connection, _ = listener.accept()
        connection.settimeout(1)
        with contextlib.suppress(OSError):
            got = connection.recv(1 << 16)
            with open(marker, "ab") as file:
                file.write(got)
        connection.close()


@attack("somebody else's XDG_RUNTIME_DIR", "B adds a request with Authorization while XDG_RUNTIME_DIR is A's, where A listens",
        "A gets nothing")
def runtime_directory(ground):
    ground.start()
    with someone(A):
        place = ground.public / "runtime-a"
        (place / "reach").mkdir(parents=True)
        place.chmod(0o755)
        (place / "reach").chmod(0o755)
    marker = ground.public / "got"
    ground.attack(listen_as_daemon, place / "reach/reach.sock", marker)
    deadline = time.monotonic() + 5
    while not marker.with_suffix(".ready").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    subprocess.run(
        [ground.options.reach, "queue", "add", "-H", "Authorization: Bearer secret", ADD_URL], user=B, group=B, extra_groups=[],
        cwd="/", capture_output=True, timeout=20, env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(place)}, check=False)
    got = marker.read_bytes() if marker.exists() else b""
    if got:
        raise Failure(f"A got {len(got)} bytes{', with the secret' if b'secret' in got else ''}")
    return "nothing"


@attack("mails for dead requests", "A has 150 requests die, and a hook runs for each dead request",
        "the hook runs for at most 50 of them, and for B's", configuration='[hooks]\nevents = ["request-dead"]\n')
def mails(ground):
    hooks = ground.etc / "hooks.d"
    hooks.mkdir()
    hook = hooks / "mail"
    hook.write_text('#!/bin/sh\necho "$REACH_REQUEST" >>"$STATE_DIRECTORY/mails"\n')
    hook.chmod(0o755)
    ground.start(f'[hooks]\ndirectory = "{hooks}"\nevents = ["request-dead"]\n')
    with ground.client(A) as a:
        for _ in range(150):
            a.add(ADD_URL, **WAITS, expires_ms=1)
    mails_ = ground.state / "mails"
    time.sleep(3)
    with ground.client(B) as b:
        mine = b.add(ADD_URL, **WAITS, expires_ms=1)
    deadline, lines = time.monotonic() + 15, []
    while time.monotonic() < deadline and str(mine) not in lines:
        time.sleep(0.1)
        lines = mails_.read_text().split() if mails_.exists() else []
    seen = f"{len(lines)} runs, {'one' if str(mine) in lines else 'none'} of them for B"
    if len(lines) > 51 or str(mine) not in lines:
        raise Failure(seen)
    return seen


def drip(address, count, seconds=6):
    """Sends the ends of long heads byte by byte, by many connections."""
    deadline, connections = time.monotonic() + seconds, []
    head = b"GET /metrics HTTP/1.1\r\nX: " + b"a" * 8000
    begun = 6000
    sent = 0
    while time.monotonic() < deadline:
        while len(connections) < count:
            connection = socket.create_connection(address, 1)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(head[:begun])
            connections.append([connection, begun])
        for entry in list(connections):
            try:
                sent += entry[0].send(head[entry[1]:entry[1] + 1])
                entry[1] += 1
                if entry[1] == len(head):
                    raise OSError
            except OSError:
                entry[0].close()
                connections.remove(entry)
        time.sleep(0.002)
    return sent


@attack("drips at the metrics", "40 connections send the last 2,000 bytes of heads of 8,000 to the metrics' port byte by byte",
        "the daemon uses less than 15 % of a processor", configuration='[metrics]\nlisten = "127.0.0.1:9101"\n',
        measures=True)
def drips(ground):
    ground.start()
    fork = ground.attack(drip, ("127.0.0.1", 9101), 40)
    time.sleep(3)
    before, began = ground.processor_time(), time.monotonic()
    time.sleep(1.5)
    share = (ground.processor_time() - before) / (time.monotonic() - began)
    ground.measure(1)
    sent = fork.result()
    # What a byte costs, whatever the machine and the speed of the sender: reading one takes a few system calls.
    seen = f"{share:.0%} of a processor, {sent} bytes sent"
    if share > 0.15 or not sent:
        raise Failure(seen)
    return seen


SCRAPES = '''[metrics]
listen = "0.0.0.0:9101"
[[probe_template]]
name = "web"
scrape_targets = ["http://192.0.2.0/24", "http://198.51.100.0/24"]
'''


def scrape(address, target, within=20):
    """The answer to a scrape; one that does not wait with `within` = 0 is the open connection."""
    connection = socket.create_connection((address, 9101), timeout=within or 10)
    connection.sendall(f"GET /probe?module=web&target=http://{target}/ HTTP/1.1\r\nHost: x\r\n"
                       "X-Prometheus-Scrape-Timeout-Seconds: 300\r\n\r\n".encode())
    if not within:
        return connection
    answer = b""
    while piece := connection.recv(65536):
        answer += piece
    return answer.decode()


def scrape_and_hang_up(count):
    for _ in range(count):
        scrape("127.0.0.1", BLACK_HOLE, within=0).close()


def scrape_and_stay(count):
    held = [scrape("127.0.0.1", BLACK_HOLE, within=0) for _ in range(count)]
    time.sleep(60)
    return len(held)


def must_scrape(ground, address, where):
    answer = where(scrape, address, WELL)
    if "probe_success 1" not in answer:
        raise Failure(answer.splitlines()[-1] if answer else "no answer")
    return "the next one is tested"


@attack("scrapes that hang up", "100 scrapes of a target that does not answer, with a limit of 300 s, each hung up at once",
        "the next scrape of the same client has a place", configuration=SCRAPES)
def scrapes_hung_up(ground):
    ground.server(well)
    ground.start()
    ground.attack(scrape_and_hang_up, 100).result()
    # A hangup that has not arrived yet counts as a scrape.
    for _ in range(20):
        with contextlib.suppress(Failure):
            return must_scrape(ground, "127.0.0.1", lambda *call: call[0](*call[1:]))
        time.sleep(0.25)
    return must_scrape(ground, "127.0.0.1", lambda *call: call[0](*call[1:]))


@attack("scrapes of one client", "60 scrapes of a target that does not answer, which stay",
        "another client's scrape has a place", configuration=SCRAPES)
def scrapes_of_one(ground):
    ground.server(well)
    ground.start()
    ground.attack(scrape_and_stay, 60)
    time.sleep(1)
    return must_scrape(ground, "192.0.2.2", lambda *call: ground.far(*call).result())


def take_all_room(path):
    """Fills a file system, and takes each byte that becomes free."""
    with open(path, "wb", buffering=0) as filler:
        while True:
            with contextlib.suppress(OSError):
                while filler.write(bytes(4096)):
                    pass
            time.sleep(0.001)


@attack("calls while the disk fails", "other programs take each byte of the disk that becomes free; B cancels until a change cannot be written, and then adds a request",
        "each call is answered within a second")
def failing_disk(ground):
    ground.mount("-t", "tmpfs", "-o", f"size=8m,mode=0755,uid={DAEMON},gid={DAEMON}", "tmpfs", ground.state)
    ground.start()
    with ground.client(B, patience=40) as b:
        mine = [b.add(ADD_URL, **WAITS) for _ in range(800)]
        ground.attack(take_all_room, ground.state / "filler", user=0)
        deadline = time.monotonic() + 5
        while os.statvfs(ground.state).f_bavail and time.monotonic() < deadline:
            time.sleep(0.01)

        def call(method, **parameters):
            began = time.monotonic()
            try:
                b.queue(method, **parameters)
                return time.monotonic() - began, None
            except Refused as refused:
                return time.monotonic() - began, refused.error
        confirmed, longest, error = 0, 0, None
        while error is None and mine:
            waited, error = call("Cancel", id=mine.pop())
            confirmed, longest = confirmed + (error is None), max(longest, waited)
        waits = [call("Add", **ADD), call("Add", **ADD, key="k"), call("Cancel", id=mine[0] if mine else 1)]
    longest = max([longest, *(waited for waited, _ in waits)])
    seen = f"{confirmed} confirmed, then {', '.join(str(error) for _, error in waits)}; the longest answer after {longest:.1f} s"
    if longest > 1 or error is None:
        raise Failure(seen)
    return seen


# ---------------------------------------------------------------- a limit of memory

#: What an idle daemon has, and what the messages of a user may take (SECURITY.md, Limits), in MiB.
IDLE, MESSAGES = 4, 32
#: JSON of a million bytes each, between the quotation marks.
PIECES = {
    "letters": "a", "accents": "\u0301", "families": "\U0001f469\u200d", "right to left": "\u202e", "escaped zeros": "\\u0000",
    "escaped halves": "\\ud800", "quotation marks": '\\"', "backslashes": "\\\\", "slashes": "/", "commas": ",", "ends of lines": "\\r\\n",
    "percents": "%00", "terms": "not network=a,", "zeros": "0",
}
MILLION = 1_000_000


def places():
    """The method and the parameter of each text and list that has a limit."""
    rows = re.findall(r"^\| `([^`]+)` \| (`(?:Monitor|Queue)\.[^|]+) \| \d+ (?:bytes|elements) \|$", (ROOT / "SECURITY.md").read_text(), re.M)
    return [(method, path) for path, methods in rows for method in re.findall(r"`([^`]+)`", methods)]


def message(method, path, piece):
    """A call whose parameter is a million bytes of these; of a list, as many elements as that."""
    size = len(piece.encode())
    text = f'"{piece * (MILLION // size)}"'
    name, _, member = path.partition("[]")
    if member:  # headers[].name
        text = f'[{{"{member[1:]}":{text}}}]'
    elif path.endswith("[]"):
        text = f"[{text}]"
    elif path in ("headers", "states", "types", "accept"):
        text = "[" + ",".join(f'"{piece}"' for _ in range(MILLION // (size + 3))) + "]"
    url = f',"url":"{ADD_URL}"' * (method == "Queue.Add" and path != "url")
    return f'{{"method":"io.reach.{method}","parameters":{{"{name}":{text}{url}}}}}'.encode() + b"\0"


def say_all(path, turn, turns):
    """Every piece in every place, by eight connections at a time; how many were accepted, refused, and hung up on."""
    found = {"accepted": 0, "refused": 0, "hung up": 0}
    calls = [message(method, parameter, piece) for method, parameter in places() for piece in PIECES.values()][turn::turns]
    for call in calls:
        with contextlib.suppress(OSError), Client(path, 30) as client:
            client.socket.sendall(call)
            try:
                client.receive()
                found["accepted"] += 1
            except Refused:
                found["refused"] += 1
            except Failure:
                found["hung up"] += 1
            continue
        found["hung up"] += 1
    return found


class Memory:
    """A group of processes with a limit of memory, of the kernel's second kind of groups or of its first."""

    KINDS = (("cgroup2", "", "memory.max", "memory.peak", "memory.events"),
             ("cgroup", "memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control"))

    def __init__(self, ground, mib):
        place = ground._directory("groups", 0o755, 0)
        for kind, options, limit, peak, killed in self.KINDS:
            if subprocess.run(["mount", "-t", kind, *["-o", options] * bool(options), "none", str(place)], capture_output=True, check=False).returncode:
                continue
            ground.mounted.append(str(place))
            with contextlib.suppress(OSError):
                (place / "cgroup.subtree_control").write_text("+memory")
            self.group = place / f"reach-attack-{os.getpid()}"
            try:
                self.group.mkdir()
            except OSError as error:
                raise Skip(f"no group of processes can be made here: {error}") from None
            self.peak, self.killed = self.group / peak, self.group / killed
            if (self.group / limit).exists():
                (self.group / limit).write_text(str(mib << 20))
                # Of this process, to which it returns.
                lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
                own = next(path for _, names, path in lines if names == options or options in names.split(",") and options)
                self.home = place / own.lstrip("/") / "cgroup.procs"
                return
            self.group.rmdir()
        raise Skip("no group of processes can be given a limit of memory here")

    @contextlib.contextmanager
    def inside(self):
        (self.group / "cgroup.procs").write_text(str(os.getpid()))
        try:
            yield
        finally:
            self.home.write_text(str(os.getpid()))

    def kills(self):
        found = re.search(r"^oom_kill (\d+)$", self.killed.read_text(), re.M)
        return int(found[1]) if found else 0


@attack("a million bytes in each text", f"A sends a million bytes of {', '.join(PIECES)} in each text and list of each call, by eight connections, while the "
        f"daemon may have {2 * (IDLE + MESSAGES)} MiB, twice what is promised", "each call is refused, and the daemon is the same process", measures=True)
def million_in_each(ground):
    memory = Memory(ground, 2 * (IDLE + MESSAGES))
    try:
        with memory.inside():
            ground.start()
        if ground.idle_daemon:
            # It is measured beside the other, and has no limit.
            memory.home.write_text(str(ground.idle_daemon.pid))
        forks = [Fork(say_all, ground.socket, turn, 8, user=A, aside=True) for turn in range(8)]
        ground.processes += forks
        ground.measure(2)
        found = [fork.result(60) for fork in forks]
        ground.must_live()
        peak, kills = int(memory.peak.read_text()) >> 20, memory.kills()
    finally:
        if ground.daemon and ground.daemon.poll() is None:
            ground.stop()
        memory.group.rmdir()
    count = {key: sum(each[key] for each in found) for key in found[0]}
    seen = f"{', '.join(f'{number} {word}' for word, number in count.items())}; at most {peak} MiB, {kills} processes ended for want of memory"
    if count["accepted"] or kills:
        raise Failure(seen)
    return seen
