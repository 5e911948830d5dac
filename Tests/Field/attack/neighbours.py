"""What one user does to another: A attacks, B wants to work."""

import base64
import contextlib
import fcntl
import json
import os
import socket
import time
from pathlib import Path

from ground import A, ADD, ADD_URL, WAITS, B, BLACK_HOLE, C, GROUP, WELL, Client, Failure, Late, Refused, add_many
from hostile import name_server, truth
from namespaces import ip
from programs import ROOT
from servers import drips, quick, says, well
from table import attack


FRAMING = [
    ("Content-Length", "3"), ("content-length", "3"), ("Content-Length", ""), ("Content-Length", "3, 3"),
    ("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "xchunked"), ("transfer-encoding", "identity"),
    ("Connection", "close"), ("Connection", "keep-alive, X-Secret"), ("Keep-Alive", "timeout=1"), ("Upgrade", "h2c"),
    ("HTTP2-Settings", "AAMAAABkAAQAoAAAAAIAAAAA"), ("http2-settings", ""),
    ("TE", "trailers"), ("Trailer", "X-A"), ("Expect", "100-continue"), ("Proxy-Connection", "keep-alive"),
    ("Proxy-Authorization", "Basic eA=="), ("Proxy-Anything", "x"), ("Host", "a b"), ("Host", ""), ("Host", "a/../b"),
    ("Host", "x\r\nX-Y: z"), ("X-A", "b\r\nContent-Length: 3"), ("X-A", "b\nC: d"), ("X-A", "b\0c"), ("X A", "b"), ("", "b"),
    ("X-A:", "b"), ("Content-Length ", "3"), (" Content-Length", "3"), ("Transfer-Encoding\t", "chunked"),
]


# ---------------------------------------------------------------- requests


def replace_without_end(path, repetitions):
    """A request that waits, replaced by the next one: two events each, and no network."""
    return add_many(path, [ADD_URL], repetitions, key="same", mode="replace", **WAITS)


@attack("events pushed out", "A replaces a request that waits 3,600 times, after an outage and requests of B's; the journal keeps 1 MiB",
        "the journal has all of the machine's events and of B's, and a gap for what it lacks of A's",
        configuration='[targets]\nw = "interface:w0"\n[journal]\nbytes = 1048576\n')
def events_pushed_out(ground):
    ip("link", "add", "w0", "type", "veth", "peer", "name", "w1")
    ip("link", "set", "w1", "up")
    ground.start(ground.configuration_text)
    for state in ("up", "down", "up"):
        ip("link", "set", "w0", state)
        time.sleep(0.3)
    with ground.client(B) as b:
        for number in range(5):
            b.queue("Cancel", id=b.add(f"{ADD_URL}/{number}", **WAITS))
    time.sleep(0.3)

    def everything(user):
        with ground.client(user) as client:
            events, cursor = [], {}
            while True:
                page = client.call("Monitor.Journal", limit=1000, **cursor)
                events += page["events"]
                cursor = {"log": page["log"], "after": page["next"]}
                if page["complete"]:
                    return events
    before = everything(0)
    replaced = sum(fork.result(35) for fork in ground.attack(replace_without_end, ground.socket, 1800, copies=2))
    time.sleep(0.5)
    after, own = everything(0), everything(B)
    kept = {event["n"] for event in after if event["type"] != "gap"}
    lost = [event for event in before if event["n"] not in kept and event["type"] != "gap"]
    gaps = [event for event in after if event["type"] == "gap"]
    size = sum(path.stat().st_size for path in (ground.state / "journal").iterdir())
    seen = f"{replaced} replaced; {len(lost)} of {len(before)} events lost, {len(gaps)} gaps, {size >> 10} KiB"
    if lost or not gaps or size > 1100 << 10 or any(event["type"] == "gap" for event in own):
        raise Failure(seen)
    return seen


@attack("smuggled request", "A's request says Content-Length: 3 and hides GET /alices in its body; then B sends one to the same host",
        "B's request arrives whole and alone, and A's is refused", measures=True)
def smuggled(ground):
    journal = ground.server(well)
    ground.start()
    hidden = "abcGET /alices HTTP/1.1\r\nX-Swallow: "
    tried = ground.reach(A, "queue", "add", "-H", "Content-Length: 3", "-d", hidden, f"http://{WELL}/a")
    time.sleep(0.5)
    with ground.client(B) as b:
        mine = b.wait(b.add(f"http://{WELL}/b", headers=[{"name": "Authorization", "value": "Bearer b"}]))
    attack_by_calls = ground.attack(add_with_headers, ground.socket, [("Content-Length", "3")], 300)
    ground.measure()
    attack_by_calls.end()
    stray = [line["path"] for line in journal.read() if line["path"].startswith("/alices")]
    swallowed = [line for line in journal.read() if ["X-Swallow", "GET /b HTTP/1.1"] in line["headers"]]
    arrived = journal.read(path="/b")
    seen = f"A: exit {tried.returncode}; B: {mine['state']}, /b arrived {len(arrived)} times, /alices {len(stray)}"
    if stray or swallowed or len(arrived) != 1 or mine["state"] != "done" or tried.returncode == 0:
        raise Failure(seen)
    return seen


def add_with_headers(path, headers, repetitions):
    """How many were taken, and which."""
    taken = []
    with Client(path) as client:
        for _ in range(repetitions):
            for name, value in headers:
                with contextlib.suppress(Refused):
                    client.add(f"http://{WELL}/framed", method="POST", body=b"abcdef", headers=[{"name": name, "value": value}])
                    taken.append(f"{name}: {value}")
    return taken


@attack("framing headers", f"{len(FRAMING)} headers that say where a message ends, or belong to the connection, or break lines",
        "each is refused when the request is added")
def framing_headers(ground):
    journal = ground.server(well)
    ground.start()
    taken = ground.attack(add_with_headers, ground.socket, FRAMING, 1).result()
    ground.must_live()
    seen = f"{len(FRAMING) - len(taken)} of {len(FRAMING)} refused"
    if taken:
        raise Failure(f"{seen}; taken: {'; '.join(map(repr, taken[:6]))}{' ...' if len(taken) > 6 else ''}")
    return f"{seen}, {len(journal.read())} arrived"


@attack("shared connections", "A and B, and two credentials of B's, send to one host, one after the other",
        "no connection carries two owners, or two credentials")
def shared_connections(ground):
    journal = ground.server(well)
    ground.start()
    with ground.client(A) as a, ground.client(B) as b:
        for turn in range(3):
            for who, client, value in (("a", a, None), ("b", b, None), ("b1", b, "Bearer 1"), ("b2", b, "Bearer 2")):
                headers = [{"name": "Authorization", "value": value}] if value else []
                client.wait(client.add(f"http://{WELL}/{who}/{turn}", headers=headers))
    owners = {}
    for line in journal.read():
        owners.setdefault(line["connection"], set()).add(line["path"].split("/")[1])
    mixed = {number: sorted(who) for number, who in owners.items() if len(who) > 1}
    seen = f"{len(journal.read())} requests by {len(owners)} connections"
    if mixed:
        raise Failure(f"{seen}; one carried {' and '.join(next(iter(mixed.values())))}")
    return seen


@attack("connection's login", "a server takes the first Authorization of a connection for all that follows, as NTLM has it; A logs in",
        "no request of B's is answered as A's")
def connection_login(ground):
    journal = ground.server(well)
    ground.start()
    with ground.client(A) as a, ground.client(B) as b:
        for scheme in ("NTLM TlRMTVNTUAABAAAA", "Negotiate YIIB", "Basic YTph"):
            a.wait(a.add(f"http://{WELL}/authenticate/a", headers=[{"name": "Authorization", "value": scheme}]), within=1)
            a.wait(a.add(f"http://{WELL}/a", headers=[{"name": "Authorization", "value": scheme}]))
            b.wait(b.add(f"http://{WELL}/b"))
    logged_in = {line["connection"] for line in journal.read() for name, _ in line["headers"] if name == "Authorization"}
    served = [line for line in journal.read(path="/b") if line["connection"] in logged_in]
    seen = f"{len(served)} of {len(journal.read(path='/b'))} of B's came by a connection that A had logged in"
    if served or len(journal.read(path="/b")) != 3:
        raise Failure(seen)
    return seen


@attack("cookies", "a server sets a cookie for A", "neither B nor another request of A's sends it")
def cookies(ground):
    journal = ground.server(well)
    ground.start()
    with ground.client(A) as a, ground.client(B) as b:
        for client in (a, b, a):
            client.wait(client.add(f"http://{WELL}/cookie"))
    sent = [line for line in journal.read() if any(name.lower() == "cookie" for name, _ in line["headers"])]
    if sent or len(journal.read()) != 3:
        raise Failure(f"{len(sent)} of {len(journal.read())} requests had a cookie")
    return "no request of three had one"


# ---------------------------------------------------------------- calls


def flood(path, frames, seconds=20):
    """Sends the same bytes again and again, and reads what comes."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(path))
    connection.setblocking(False)
    import select
    deadline, sent = time.monotonic() + seconds, 0
    rest = b""
    while time.monotonic() < deadline:
        readable, writable, _ = select.select([connection], [connection], [], 1)
        if readable and not connection.recv(1 << 20):
            break
        if writable:
            rest = rest or frames
            count = connection.send(rest)
            sent, rest = sent + count, rest[count:]
    return sent


def frames(method, parameters, count, **more):
    return (json.dumps({"method": f"io.reach.{method}", "parameters": parameters, **more}).encode() + b"\0") * count


@attack("one-way calls", "A sends Queue.List with oneway by one connection as fast as the daemon reads, with 500 requests to list",
        "the daemon grows by less than 64 MiB", measures=True)
def one_way(ground):
    ground.start()
    fill(ground, 500)
    before = ground.rss()
    attack_ = ground.attack(flood, ground.socket, frames("Queue.List", {"limit": 1000}, 200, oneway=True))
    time.sleep(0.5)
    ground.measure()
    grown = ground.rss() - before
    attack_.end()
    return at_rest(ground, f"grew by {grown:.0f} MiB", grown < 64)


def add_waiting(path, count):
    return add_many(path, [ADD["url"]], count, when=ADD["when"])


def fill(ground, count):
    """Adds requests of A's that wait, by several connections: each call is answered when it is on the disk."""
    for fork in ground.attack(add_waiting, ground.socket, count // 20, copies=20):
        fork.result()


def at_rest(ground, seen, is_right):
    """Reports when the daemon has finished what it was sent, which costs a share of its time and harms no one."""
    deadline = time.monotonic() + 5
    ended = time.monotonic()
    before = ground.processor_time()
    while time.monotonic() < deadline:
        time.sleep(0.1)
        now = ground.processor_time()
        if now - before < 0.01:
            break
        before = now
    rested = time.monotonic() - ended
    seen = f"{seen}, at rest after {rested:.1f} s"
    if not is_right:
        raise Failure(seen)
    return seen


@attack("many callers", "A has 64 connections that ask Queue.List of 2,000 requests as fast as they are answered",
        "the daemon grows by less than 64 MiB", measures=True)
def many_callers(ground):
    ground.start()
    fill(ground, 2000)
    before = ground.rss()
    attack_ = ground.attack(flood_by_many, ground.socket, 64, frames("Queue.List", {"limit": 1000}, 1))
    time.sleep(0.5)
    ground.measure()
    grown = ground.rss() - before
    attack_.end()
    return at_rest(ground, f"grew by {grown:.0f} MiB", grown < 64)


@attack("many changes", "A has 500 connections that replace a request of theirs as fast as they are answered",
        "the daemon grows by less than 64 MiB", measures=True)
def many_changes(ground):
    ground.start()
    before = ground.rss()
    attack_ = ground.attack(flood_by_many, ground.socket, 500, frames("Queue.Add", {**ADD, "key": "k", "mode": "replace"}, 1))
    time.sleep(0.5)
    ground.measure()
    grown = ground.rss() - before
    attack_.end()
    return at_rest(ground, f"grew by {grown:.0f} MiB", grown < 64)


def flood_by_many(path, count, call, seconds=20):
    """Each connection asks again as soon as it is answered."""
    import selectors
    selector = selectors.DefaultSelector()
    for _ in range(count):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(path))
        connection.sendall(call)
        selector.register(connection, selectors.EVENT_READ)
    deadline, answers = time.monotonic() + seconds, 0
    while time.monotonic() < deadline:
        for key, _ in selector.select(1):
            piece = key.fileobj.recv(1 << 20)
            if not piece:
                selector.unregister(key.fileobj)
            elif piece.endswith(b"\0"):
                answers += 1
                key.fileobj.sendall(call)
    return answers


@attack("all connections", "A opens connections until none is given, and says nothing by them",
        "B is answered, and A has no more than limits.connections_per_user", measures=True)
def all_connections(ground):
    ground.start()
    held = ground.attack(hold_connections, ground.socket, 3000)
    time.sleep(1)
    ground.measure(1)
    ground.must_live()
    count = len(os.listdir(f"/proc/{ground.daemon.pid}/fd"))
    held.end()
    if count > 1200:
        raise Failure(f"{count} descriptors open")
    return f"{count} descriptors open"


def hold_connections(path, count):
    held = []
    for _ in range(count):
        with contextlib.suppress(OSError):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(str(path))
            held.append(connection)
    time.sleep(600)


@attack("passed descriptors", "A sends descriptors with its messages: pipes, files, memory that it can change, many at once",
        "none is received, whatever it is", measures=True)
def passed_descriptors(ground):
    ground.start()
    before = len(os.listdir(f"/proc/{ground.daemon.pid}/fd"))
    passing = ground.attack(pass_descriptors, ground.socket, 3000)
    ground.measure(3)
    answers = passing.result()
    ground.must_live()
    count = len(os.listdir(f"/proc/{ground.daemon.pid}/fd"))
    seen = f"{answers['refused']} refused, {answers['taken']} taken, {count} descriptors open, {before} before"
    if answers["taken"] or not answers["refused"] or count > before + 20:
        raise Failure(seen)
    return seen


def pass_descriptors(path, count):
    """How many uploads by descriptors were refused and taken."""
    found = {"refused": 0, "taken": 0}
    seals = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
    reading, _writing = os.pipe()
    with Client(path) as client:
        for number in range(count):
            memory = os.memfd_create("body", os.MFD_ALLOW_SEALING)
            os.ftruncate(memory, 17 << 20 if number % 5 == 4 else 1000)
            kind = number % 5
            fcntl.fcntl(memory, fcntl.F_ADD_SEALS, seals if kind in (3, 4) else fcntl.F_SEAL_SHRINK)
            passed = ([reading] * 200, [memory], [os.open(__file__, os.O_RDONLY)], [memory], [memory])[kind]
            call = json.dumps({"method": "io.reach.Queue.Upload", "parameters": {"memory": True}}).encode() + b"\0"
            socket.send_fds(client.socket, [call], passed)
            try:
                client.receive()
                found["taken"] += 1
            except Refused:
                found["refused"] += 1
            for descriptor in {memory, passed[0]} - {reading}:
                os.close(descriptor)
    return found


@attack("all targets", "A watches different targets until no more are taken", "B can watch one more")
def all_targets(ground):
    ground.start()
    marker = ground.public / "watched"
    targets = [f"203.0.{113 + index // 250}.{index % 250 + 1}" for index in range(1100)]
    held = ground.attack(hold_watches, ground.socket, targets, marker)
    while not marker.exists():
        time.sleep(0.05)
        ground.must_live()
    taken = marker.read_text()
    with ground.client(B) as b:
        b.send("Monitor.Watch", more=True, target="203.0.113.254")
        try:
            b.receive()
        except Refused as refused:
            raise Failure(f"A has {taken}, and B is refused: {refused}") from None
    held.end()
    return f"A has {taken}, and B's is taken"


def hold_watches(path, targets, marker):
    """The marker says how many were taken."""
    held = []
    for target in targets:
        with contextlib.suppress(OSError, Refused, Failure):
            connection = Client(path)
            connection.send("Monitor.Watch", more=True, target=target)
            connection.receive()
            held.append(connection)
    fresh = marker.with_suffix(".new")
    fresh.write_text(str(len(held)))
    fresh.rename(marker)
    time.sleep(600)


@attack("slow readers", "A asks for a result of 64 MiB by 200 connections and reads none of it",
        "the daemon grows by less than 64 MiB", measures=True,
        configuration="[queue]\nbytes = 1073741824\nbytes_per_user = 536870912\n")
def slow_readers(ground):
    ground.server(well)
    ground.start()
    with ground.client(A) as a:
        number = a.add(f"http://{WELL}/bytes/67108864")
        request = a.wait(number, within=20)
        if request["state"] != "done":
            raise Failure(f"the large answer is {request['state']} {request.get('reason')}")
    before = ground.rss()
    call = frames("Queue.Result", {"id": number, "length": 524288}, 4)
    attack_ = ground.attack(ask_and_stop, ground.socket, 200, call)
    time.sleep(0.7)
    ground.measure()
    grown = ground.rss() - before
    attack_.end()
    seen = f"grew by {grown:.0f} MiB"
    if grown > 64:
        raise Failure(seen)
    return seen


def ask_and_stop(path, count, call):
    held = []
    for _ in range(count):
        with contextlib.suppress(OSError):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(str(path))
            connection.sendall(call)
            held.append(connection)
    time.sleep(600)


@attack("calls that are no calls", "deep nesting, endless strings, halves of messages, huge numbers, and bytes at random, by A",
        "the daemon is the same process, B is answered, the log has at most 100 lines, and none that A wrote")
def no_calls(ground):
    ground.start()
    ground.attack(send_rubbish, ground.socket).result(30)
    ground.must_live()
    ground.await_answer()
    lines = ground.log.read_text(errors="replace").splitlines()
    forged = [line for line in lines if not line[:4].isdigit() or "\x1b" in line]
    if forged or len(lines) > 100:
        raise Failure(f"{len(lines)} lines in the log, {len(forged)} of A's making: {forged[:2]}")
    return f"the daemon answers; {len(lines)} lines in its log"


def send_rubbish(path):
    import random
    chance = random.Random(7)
    deep = 400_000
    messages = [
        b"[" * deep + b"\0", b'{"a":' * (deep // 4) + b"\0", b'{"method":"io.reach.Queue.Add","parameters":' + b"[" * deep + b"\0",
        b'{"method":"' + b"x" * (1 << 20) + b"\0", b"\xff" * 1000 + b"\0", b"\0" * 100000,
        b'{"method":"io.reach.Queue.Show","parameters":{"id":1e999}}\0',
        b'{"method":"io.reach.Queue.Show","parameters":{"id":-9223372036854775808}}\0',
        b'{"method":"io.reach.Queue.Show","parameters":{"id":9223372036854775808}}\0',
        b'{"method":"io.reach.Queue.List","parameters":{"limit":-1,"after":-9223372036854775808}}\0',
        b'{"method":"io.reach.Queue.List","parameters":{"limit":9223372036854775807,"after":9223372036854775807}}\0',
        b'{"method":"io.reach.Queue.Result","parameters":{"id":1,"offset":9223372036854775807,"length":9223372036854775807}}\0',
        b'{"method":"io.reach.Queue.Add","parameters":{"url":"http://198.51.100.80/","expires_ms":9223372036854775807}}\0',
        b'{"method":"io.reach.Queue.Add","parameters":{"url":"http://198.51.100.80/","expires_ms":-9223372036854775808}}\0',
        b'{"method":"io.reach.Queue.Add","parameters":{"url":"http://198.51.100.80/","max_attempts":9223372036854775807}}\0',
        b'{"method":"io.reach.Monitor.Probe","parameters":{"target":"http://198.51.100.80/","timeout_ms":9223372036854775807}}\0',
        b'{"method":"io.reach.Monitor.Status","parameters":{"target":"' + b"a" * 70000 + b'"}}\0',
        b'{"method":"io.reach.Monitor.Status","parameters":{"target":"\\ud800"}}\0',
        b'{"method":"x\\n2026-11-22T00:00:00Z error: forged\\u001b[31m"}\0' * 50,
        b'{"me\n2026-11-22T00:00:00Z error: forged\x1b[31m\0',
    ] + [chance.randbytes(chance.randrange(1, 5000)) + b"\0" for _ in range(200)]
    for message in messages:
        with contextlib.suppress(OSError):
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(1)
            connection.connect(str(path))
            connection.sendall(message)
            connection.recv(1 << 16)
        connection.close()


# Integers of 8, 16, 31, 32, 53 and 64 bits end here, and so do nanoseconds in seconds, milliseconds and microseconds.
ENDS = [sign * value for value in (1, 255, 65535, 2147483647, 2147483648, 4294967295, 4294967296, 9007199254740993,
                                   9223372036, 9223372037, 9223372036854, 9223372036855, 9223372036854775, 9223372036854776,
                                   9223372036854775806, 9223372036854775807) for sign in (1, -1)] + [0, -9223372036854775808]


def integers_of(description):
    """(method, parameter, a function from a number to the parameter's value), for all integers that the interface takes."""
    import re
    plain = re.sub(r"#.*", "", description)
    types = {name: dict(re.findall(r"(\w+)\s*:\s*([?\[\]\w]+)", fields))
             for name, fields in re.findall(r"type\s+(\w+)\s*\(([^)]*)\)", plain)}
    for method, fields in re.findall(r"method\s+(\w+)\s*\(([^)]*)\)\s*->", plain):
        for parameter, kind in re.findall(r"(\w+)\s*:\s*([?\[\]\w]+)", fields):
            kind = kind.lstrip("?")
            bare = kind.removeprefix("[]")
            wrap = (lambda value: [value]) if kind.startswith("[]") else (lambda value: value)
            if bare == "int":
                yield method, parameter, wrap
            for member, inner in types.get(bare, {}).items():
                if inner.lstrip("?") == "int":
                    others = {name: 299 for name, other in types[bare].items() if other == "int"}
                    yield method, f"{parameter}.{member}", lambda value, others=others, member=member, wrap=wrap: wrap(
                        {**others, member: value})


def extreme_calls(path, number):
    """Calls every method of the daemon with every number at the ends; how many were answered, and which not."""
    needed = {"url": ADD_URL, "when": WAITS["when"], "id": number, "data": "AAAA", "target": "198.51.100.9"}
    count, silent = 0, []
    with Client(path) as client:
        descriptions = {}
        for name in ("io.reach.Monitor", "io.reach.Queue"):
            client.socket.sendall(json.dumps({"method": "org.varlink.service.GetInterfaceDescription",
                                              "parameters": {"interface": name}}).encode() + b"\0")
            descriptions[name.rpartition(".")[2]] = client.receive()["description"]
    for interface, description in descriptions.items():
        for method, parameter, value in integers_of(description):
            name = parameter.partition(".")[0]
            others = {"Add": ("url", "when"), "Upload": ("data",), "Result": ("id",), "Probe": ("target",)}.get(method, ())
            for end in ENDS:
                parameters = {key: needed[key] for key in others} | {name: value(end)}
                try:
                    with Client(path) as client:
                        client.call(f"{interface}.{method}", **parameters)
                    count += 1
                except Refused:
                    count += 1
                except (Failure, OSError) as error:
                    silent.append(f"{method} {parameter}={end}: {error}")
                    if len(silent) > 3:
                        return [count, silent]
    return [count, silent]


@attack("numbers at their ends", "A calls every method with the ends of integers in every parameter; then all is listed, explained and read after a restart",
        "each call is answered, the daemon is the same process, and so after a restart")
def extreme_numbers(ground):
    ground.server(well)
    ground.start()
    with ground.client(A) as a:
        number = a.add(f"http://{WELL}/a")
        a.wait(number)
    count, silent = ground.attack(extreme_calls, ground.socket, number).result(30)
    ground.must_live()
    if silent or count < 10 * len(ENDS):
        raise Failure(f"{count} answered; not: {'; '.join(silent)}")
    for again in (False, True):
        if again:
            ground.stop()
            ground.start()
        with ground.client(A) as a:
            after, numbers = 0, []
            while after is not None:
                page = a.queue("List", limit=1000, after=after)
                numbers += [request["id"] for request in page["requests"]]
                after = page.get("next")
            for each in numbers:
                a.queue("Explain", id=each)
        ground.must_live()
    return f"{count} calls answered, {len(numbers)} requests taken, listed and explained"


# ---------------------------------------------------------------- slots


# What another user has is given to one who has waited for five seconds.
SHARE = 7


def started_within(journal, path, added, limit, seen=""):
    """How long after it was added a request arrived; not in time is a failure."""
    line = journal.wait(lambda line: line["path"] == path, max(0, added + limit + 1 - time.monotonic()))
    late = None if line is None else line["at"] - added
    seen = f"{seen}B's started after {f'more than {limit + 1}' if late is None else f'{late:.1f}'} s"
    if late is None or late > limit:
        raise Late(seen)
    return seen


@attack("slots held by drips", "A has 40 requests to 10 destinations that send a byte every 3 s; B adds an urgent one",
        f"B's starts within {SHARE} s", measures=True)
def drip_slots(ground):
    journal = ground.server(well)
    for number in range(1, 11):
        ground.server(drips, f"203.0.113.{number}")
    ground.start()
    with ground.client(A) as a, ground.client(B) as b:
        for number in range(40):
            a.add(f"http://203.0.113.{number % 10 + 1}/drip")
        time.sleep(1)
        added = time.monotonic()
        b.add(f"http://{WELL}/urgent", priority="urgent")
        ground.measure()
        return started_within(journal, "/urgent", added, SHARE)


@attack("expires of what runs", "A has 16 requests that drip, and expire after 2 s", "all are over after 4 s")
def expires(ground):
    for number in range(1, 5):
        ground.server(drips, f"203.0.113.{number}")
    ground.start()
    with ground.client(A) as a:
        theirs = [a.add(f"http://203.0.113.{number % 4 + 1}/drip", expires_ms=2000) for number in range(16)]
        time.sleep(4)
        requests = [a.show(number) for number in theirs]
    running = sum(request["state"] != "dead" for request in requests)
    seen = f"{running} of 16 are not over; {', '.join(sorted({str(request['reason']) for request in requests}))}"
    if running:
        raise Late(seen)
    return seen


@attack("slots held by black holes", "A has 40 requests to hosts that drop every packet; B adds one", f"B's starts within {SHARE} s",
        measures=True)
def black_holes(ground):
    journal = ground.server(well)
    ground.start()
    with ground.client(A) as a, ground.client(B) as b:
        for number in range(40):
            a.add(f"http://{BLACK_HOLE}:{1000 + number}/hole")
        time.sleep(1)
        added = time.monotonic()
        b.add(f"http://{WELL}/mine")
        ground.measure()
        return started_within(journal, "/mine", added, SHARE)


@attack("one user's thousands", "A has 4,000 quick requests waiting, more than can be sent in the time; B adds one",
        "B's is sent within 2 s")
def thousands(ground):
    journal = ground.server(well)
    ground.start()
    sender = ground.attack(add_many, ground.socket, [f"http://{WELL}/a"], 4000)
    time.sleep(1)
    with ground.client(B) as b:
        added = time.monotonic()
        b.add(f"http://{WELL}/mine")
        line = journal.wait(lambda line: line["path"] == "/mine", 5)
    sender.end()
    late = None if line is None else line["at"] - added
    seen = f"B's was sent after {'more than 5' if late is None else f'{late:.2f}'} s"
    if late is None or late > 2:
        raise Late(seen)
    return seen


# ---------------------------------------------------------------- what is kept


@attack("results pushed out", "A has 1,320 requests answered and 1,320 dead; B has an unread result and a dead request",
        "B reads the result, and retries the dead one", measures=True)
def pushed_out(ground):
    ground.server(quick)
    ground.start("[queue]\nconcurrency = 64\nconcurrency_per_destination = 64\n")
    with ground.client(B) as b:
        good = b.add(f"http://{WELL}/mine")
        bad = b.add(f"http://{WELL}/status/404/b")
        for number in (good, bad):
            b.wait(number)
    senders = ground.attack(add_many, ground.socket, [f"http://{WELL}/a", f"http://{WELL}/status/404"], 165, copies=8)
    ground.measure()
    taken = sum(sender.result(30) for sender in senders)
    with ground.client(A) as a, ground.client(B) as b:
        deadline = time.monotonic() + 15
        while a.queue("List", limit=1)["count"] and time.monotonic() < deadline:
            time.sleep(0.1)
        left = a.queue("List", limit=1)["count"]
        seen = f"A's {taken - left} are over"
        try:
            answer = base64.b64decode(b.queue("Result", id=good)["answer"]["data"])
        except Refused as refused:
            raise Failure(f"{seen}; B's result: {refused}") from None
        try:
            count = b.queue("Retry", id=bad)["count"]
        except Refused as refused:
            raise Failure(f"{seen}; B's dead request: {refused}") from None
    if not answer.startswith(b"ok"):
        raise Failure(f"B reads {answer[:20]}")
    return f"{seen}; B read its result, and retried {count}"


BYTES = "[queue]\nbytes_per_user = 4194304\nbytes = 16777216\n"
# What is kept, as much again that is on its way, and what the queue itself takes.
KEPT = BYTES + "keep_results_bytes = 4194304\n"
MOST = 4 + 4 + 2


@attack("answers beyond the quota", "with 4 MiB a user, A fetches 40 answers of 1 MiB and reads none",
        f"the queue's files have at most {MOST} MiB", measures=True)
def answers_beyond(ground):
    ground.server(well)
    ground.start_with(KEPT, BYTES)
    sender = ground.attack(add_many, ground.socket, [f"http://{WELL}/bytes/1048576/{number}" for number in range(40)])
    ground.measure()
    sender.result()
    with ground.client(A) as a:
        deadline = time.monotonic() + 8
        while a.queue("List", limit=1)["count"] and time.monotonic() < deadline:
            time.sleep(0.1)
        states = [request["state"] for request in a.queue("List", limit=100)["requests"]]
    kept = ground.spool_bytes()
    seen = f"{kept:.1f} MiB kept; " + ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states)))
    if kept > MOST:
        raise Failure(seen)
    return seen


@attack("uploads that are not used", "with 4 MiB a user, A uploads bodies by 16 names and uses none",
        f"the queue's files have at most {MOST} MiB", measures=True, configuration=BYTES)
def unused_uploads(ground):
    ground.start()
    sender = ground.attack(upload, ground.socket, 16, 4 << 20)
    ground.measure()
    refused = sender.result()
    kept = ground.spool_bytes()
    seen = f"{kept:.1f} MiB kept; {refused}"
    if kept > MOST:
        raise Failure(seen)
    return seen


def upload(path, count, size):
    data = base64.b64encode(bytes(524288)).decode()
    sent, refused = 0, ""
    with Client(path, 30) as client:
        for _ in range(count):
            name = None
            try:
                for _ in range(size // 524288):
                    reply = client.queue("Upload", data=data, **({"name": name} if name else {}))
                    name, sent = reply["name"], sent + 524288
            except Refused as error:
                refused = str(error)
    return f"{sent >> 20} MiB taken, then {refused or 'nothing refused'}"


@attack("accepted statuses without number", "A adds 20 requests with 35,000 ranges in accept each",
        "refused, or the daemon grows by less than 8 MiB")
def accept_ranges(ground):
    ground.start()
    before = ground.rss()
    result = ground.attack(add_ranges, ground.socket, 20, 35000).result()
    grown = ground.rss() - before
    seen = f"{result}, grew by {grown:.0f} MiB"
    if not result.startswith("0") and grown > 8:
        raise Failure(seen)
    return seen


def add_ranges(path, count, ranges):
    taken, refused = 0, ""
    call = json.dumps({"method": "io.reach.Queue.Add", "parameters": {
        **ADD, "accept": [{"first": 200, "last": 299}] * ranges}}, separators=(",", ":")).encode() + b"\0"
    for _ in range(count):
        with Client(path) as client:
            try:
                client.socket.sendall(call)
                client.receive()
                taken += 1
            except Refused as error:
                refused = str(error)
            except (Failure, OSError) as error:
                refused = str(error)
    return f"{taken} of {count} taken{' ' + refused if refused else ''}"


# ---------------------------------------------------------------- what servers say to A must not bind B


@attack("Retry-After for one", "a server answers A with 503 and Retry-After: 99999999; then B sends to it",
        "B's is sent within 3 s, or explain says until when; A waits a day at most", measures=True)
def retry_after(ground):
    journal = ground.server(well)
    ground.start()
    with ground.client(A) as a, ground.client(B) as b:
        theirs = [a.add(f"http://{WELL}/after/99999999"), a.add(f"http://{WELL}/date")]
        journal.wait(lambda line: line["path"].startswith("/after"))
        time.sleep(0.5)
        mine = b.add(f"http://{WELL}/mine")
        ground.measure()
        line = journal.wait(lambda line: line["path"] == "/mine", 3)
        why = b.queue("Explain", id=mine)["explanation"]["reasons"] if line is None else []
        far = [a.show(number) for number in theirs]
    waits = [seconds_from_now(request["not_before"]) / 3600 for request in far if request.get("not_before")]
    seen = f"B's {'was sent' if line else 'waits: ' + '; '.join(reason['text'] for reason in why)}; A's wait {', '.join(f'{hours:.1f}' for hours in waits)} h"
    if any(hours > 24.1 for hours in waits):
        raise Failure(seen)
    if line is None:
        raise Late(seen)
    return seen


def seconds_from_now(text):
    from datetime import datetime, timezone
    try:
        return (datetime.fromisoformat(text.replace("Z", "+00:00")) - datetime.now(timezone.utc)).total_seconds()
    except ValueError:
        return float("inf")


@attack("failures for one", "A has 60 requests to paths of a server that answer 500, 503 and 429; B sends to another path of it",
        "B's is sent within 3 s")
def breaker(ground):
    journal = ground.server(well)
    ground.start()
    with ground.client(A) as a, ground.client(B) as b:
        for number in range(60):
            a.add(f"http://{WELL}/status/{(500, 503, 429)[number % 3]}/{number}")
        time.sleep(2)
        added = time.monotonic()
        mine = b.add(f"http://{WELL}/mine")
        line = journal.wait(lambda line: line["path"] == "/mine", 5)
        why = [] if line else [reason["text"] for reason in b.queue("Explain", id=mine)["explanation"]["reasons"]]
    if line is None or line["at"] - added > 3:
        raise Late(f"B's waits: {'; '.join(why)}" if line is None else f"B's was sent after {line['at'] - added:.1f} s")
    return f"B's was sent after {line['at'] - added:.2f} s"


@attack("a path called broken", "A has 60 requests to hosts that do not answer, refuse or hang up; B's is for any path",
        f"the Internet stays reachable, and B's is sent within {SHARE} s")
def broken_path(ground):
    journal = ground.server(well)
    ground.server(says(b""), "203.0.113.9")
    ground.start()
    with ground.client(A) as a, ground.client(B) as b:
        for number in range(20):
            a.add(f"http://{BLACK_HOLE}:{2000 + number}/")
            a.add(f"http://203.0.113.9/{number}")
            a.add(f"http://203.0.113.8:{3000 + number}/")
        time.sleep(2)
        status = b.call("Monitor.Status")["status"]["status"]
        added = time.monotonic()
        b.add(f"http://{WELL}/mine")
        if status != "reachable":
            raise Failure(f"the Internet is {status}")
        return started_within(journal, "/mine", added, SHARE, "reachable; ")


# ---------------------------------------------------------------- another user's


@attack("somebody else's requests", "A shows, explains, holds, releases, cancels, retries, reads and watches B's, by number and with all",
        "each is NotFound, and B's are as they were")
def somebody_elses(ground):
    ground.server(well)
    ground.start()
    with ground.client(B) as b, ground.client(A) as a, ground.client(A) as watcher:
        watcher.send("Queue.Watch", more=True)
        watcher.receive()
        waiting, done = b.add(ADD_URL, **WAITS), b.add(f"http://{WELL}/mine")
        b.wait(done)
        answers = []
        for number in (waiting, done):
            for method in ("Show", "Explain", "Hold", "Release", "Cancel", "Retry", "Result"):
                try:
                    a.queue(method, id=number)
                    answers.append(f"{method}({number}) was done")
                except Refused as refused:
                    if refused.error != "NotFound":
                        answers.append(f"{method}: {refused}")
        a.queue("Hold", all=True)
        listed = a.queue("List")
        state = b.show(waiting)
        third = b.wait(b.add(f"http://{WELL}/after-the-hold"))["state"]
        watcher.socket.settimeout(0.3)
        heard = []
        with contextlib.suppress(OSError):
            while True:
                heard.append(watcher.receive()["event"])
        # A receives the event of its own hold.
        heard = [event for event in heard if event.get("user") != A]
    if answers or listed["requests"] or listed["count"] or state["state"] != "waiting" or third != "done" or heard:
        raise Failure(f"{answers[:3]} listed {len(listed['requests'])}, B's {state['state']} and {third}, A heard {heard[:2]}")
    return "14 of 14 NotFound, nothing listed, nothing heard"


@attack("equal keys and names", "A and B use the same key, order, Idempotency-Key and upload's name; A's mode is replace",
        "neither sees, replaces, holds up or uses the other's")
def equal_names(ground):
    ground.server(well)
    ground.start()
    same = {"key": "k", "idempotency_key": "i"}
    with ground.client(A) as a, ground.client(B) as b:
        mine = b.add(ADD_URL, **WAITS, **same)
        a.add(ADD_URL, **WAITS, order="o")
        ordered = b.wait(b.add(f"http://{WELL}/b", order="o"))["state"]
        theirs = a.add(f"http://{WELL}/a", mode="replace", **same)
        sent = a.wait(theirs)["state"]
        kept = b.queue("Add", **ADD, **same)["receipt"]
        name = b.queue("Upload", data=base64.b64encode(b"secret").decode())["name"]
        used = ""
        for call in (lambda: a.add(f"http://{WELL}/stolen", method="POST", upload=name),
                     lambda: a.queue("Upload", name=name, data="eA=="),
                     lambda: a.add(f"http://{WELL}/stolen", method="POST", upload="../queue.sqlite"),
                     lambda: a.queue("Upload", name="../../x", data="eA==")):
            with contextlib.suppress(Refused):
                call()
                used = "A used B's upload, or a path"
        state = b.show(mine)["state"]
    seen = f"A's {sent}, B's {state}, B's behind A's order {ordered}{'; ' + used if used else ''}"
    if used or ordered != "done" or sent != "done" or state != "waiting" or kept["id"] != mine or not kept["kept"]:
        raise Failure(seen)
    return seen


@attack("a number used again", "the account A is deleted, its number is given to another user; C has another number",
        "whoever has the number has the requests and the kept answers, as SECURITY.md says; no one else has them, and root can end what waits")
def uid_again(ground):
    ground.server(well)
    ground.start()
    with ground.client(A) as a:
        number, answered = a.add(ADD_URL, **WAITS, key="k"), a.add(f"http://{WELL}/secret")
        a.wait(answered)
    ground.stop()
    ground.start()
    with ground.client(A) as later, ground.client(C) as c, ground.client(0) as root:
        belongs = later.show(number)["user"]
        kept = later.queue("Add", url=ADD_URL, **WAITS, key="k")["receipt"]
        answer = base64.b64decode(later.queue("Result", id=answered)["answer"]["data"])
        for look in (lambda: c.show(number), lambda: c.show(answered), lambda: c.queue("Result", id=answered)):
            with contextlib.suppress(Refused):
                look()
                raise Failure("C sees it")
        root.queue("Cancel", id=number)
        state = later.show(number)["state"]
    promised = "user ID stays with one person" in (ROOT / "SECURITY.md").read_text() if (ROOT / "SECURITY.md").exists() else True
    if belongs != A or state != "cancelled" or not answer.startswith(b"ok") or kept["id"] != number or not promised:
        raise Failure(f"it belongs to {belongs}, {state}, its answer is {answer[:10]}")
    return "requests, names and answers belong to the number; C sees nothing; root cancelled what waited"


@attack("members of the socket's group", "B, as a member of socket.group and then not, reloads, probes a URL, and meddles with A's",
        "a member may reload and probe, and touches nothing of A's; others may neither",
        configuration=f"[socket]\ngroup = \"{GROUP}\"\n")
def group_members(ground):
    # A name is needed: the configuration has no numbers.
    original = Path("/etc/group").read_text()
    ground.bind("/etc/group", original + f"attackers:x:{GROUP}:\n")
    ground.server(well)
    ground.start("[socket]\ngroup = \"attackers\"\n")
    with ground.client(A) as a:
        theirs = a.add(ADD_URL, **WAITS)
    found = {}
    for who, groups in (("member", [GROUP]), ("other", [])):
        with ground.client(B, groups) as b:
            for what, call in (("reload", lambda: b.call("Monitor.Reload")),
                               ("probe", lambda: b.call("Monitor.Probe", target=f"http://{WELL}/")),
                               ("show", lambda: b.show(theirs)), ("cancel", lambda: b.queue("Cancel", id=theirs))):
                try:
                    call()
                    found[who, what] = "done"
                except Refused as refused:
                    found[who, what] = refused.error
    expected = {("member", "reload"): "done", ("member", "probe"): "done", ("other", "reload"): "PermissionDenied",
                ("other", "probe"): "PermissionDenied"}
    expected |= {(who, what): "NotFound" for who in ("member", "other") for what in ("show", "cancel")}
    wrong = [f"{who} {what}: {found[who, what]}" for who, what in expected if found[who, what] != expected[who, what]]
    if wrong:
        raise Failure("; ".join(wrong))
    return "as it must be, 8 of 8"


@attack("escapes for somebody's terminal", "A's keys, orders, headers and paths have escape sequences, line ends and marks of direction; root lists, shows and explains",
        "what root sees has none of them")
def escapes(ground):
    ground.start()
    bad = "\x1b]0;title\x07\x1b[2J\r\n\u202e\u009b31m"
    taken = 0
    with ground.client(A) as a:
        for more in ({"key": bad}, {"order": bad}, {"idempotency_key": bad}, {"headers": [{"name": "X-A", "value": bad}]}, {}):
            with contextlib.suppress(Refused):
                a.add(f"http://{WELL}/" + ("" if more else bad), **WAITS, **more)
                taken += 1
        with contextlib.suppress(Refused):
            a.add(f"http://{WELL}/" + "".join(f"%{byte:02x}" for byte in bad.encode()), **WAITS, key="k\u202e")
            taken += 1
    with ground.client(0) as root:
        numbers = [request["id"] for request in root.queue("List")["requests"]]
    texts = [ground.reach(0, "queue", "list").stdout]
    texts += [ground.reach(0, "queue", what, number).stdout for number in numbers for what in ("show", "explain")]
    found = sorted({repr(each) for text in texts for each in text if each in "\x1b\x07\r\u202e\x9b"})
    if found:
        raise Failure(f"{taken} of 6 taken; root sees {', '.join(found)}")
    return f"{taken} of 6 taken, root sees none"


# ---------------------------------------------------------------- names


@attack("names that no one answers", "A asks for the status of 200 names and explains 8, and no name server answers; B asks for an address and a name",
        "B's address is answered within a second, and its name's state said within 6 s")
def resolver_threads(ground):
    ground.start()
    forks = ground.attack(ask_names, ground.socket, copies=2)
    time.sleep(1)
    took = {}
    for what, target in (("address", WELL), ("name", "b.example.net")):
        with ground.client(B, patience=20) as b:
            began = time.monotonic()
            with contextlib.suppress(OSError, Refused):
                b.call("Monitor.Status", target=target)
            took[what] = time.monotonic() - began
    for fork in forks:
        fork.end()
    threads = len(os.listdir(f"/proc/{ground.daemon.pid}/task"))
    seen = f"address {took['address']:.2f} s, name {took['name']:.1f} s, {threads} threads"
    if threads > 64:
        raise Failure(seen)
    if took["address"] > 1 or took["name"] > 6.5:
        raise Late(seen)
    return seen


def ask_names(path):
    held = []
    for number in range(100):
        client = Client(path, 60)
        client.send("Monitor.Status", target=f"name-{os.getpid()}-{number}.example.com")
        held.append(client)
    for number in range(4):
        client = Client(path, 60)
        client.send("Monitor.Explain", target=f"why-{os.getpid()}-{number}.example.com")
        held.append(client)
    time.sleep(600)


@attack("names that fill the resolver", "A watches 120 names and adds 60 requests that wait for names, all of which no one answers; B asks for a name that is answered",
        "B's is answered within 2 s, five times")
def resolver_filled(ground):
    name_server(ground, truth)
    ground.start()
    ground.attack(watch_names, ground.socket, 120, 60)
    time.sleep(1)
    took = []
    for _ in range(5):
        with ground.client(B, patience=20) as b:
            began = time.monotonic()
            status = b.call("Monitor.Status", target="good.example.net")["status"]
            took.append(time.monotonic() - began)
        if status.get("reason") == "name-not-resolved":
            raise Late(f"B's name is not resolved after {took[-1]:.1f} s")
    seen = f"B's were answered within {max(took):.2f} s"
    if max(took) > 2:
        raise Late(seen)
    return seen


def watch_names(path, watches, requests):
    held = []
    for number in range(watches):
        with contextlib.suppress(OSError, Refused, Failure):
            client = Client(path, 60)
            client.send("Monitor.Watch", more=True, target=f"watched-{number}.example.com")
            held.append(client)
    with Client(path, 60) as client:
        for number in range(requests):
            with contextlib.suppress(Refused):
                client.add(f"http://waits-{number}.example.com/", when="reachable")
    time.sleep(600)


@attack("names that are watched and left", "for 8 s, twice at a time, A watches one new name after the other, which no one answers, and hangs up; B asks for a name that is answered",
        "B's is answered within 2 s, five times; the daemon's memory grows by at most 8 MiB")
def names_left(ground):
    name_server(ground, truth)
    ground.start()
    before = ground.rss()
    until = time.monotonic() + 8
    took = []
    # Its connection is open before: A's leave little room among those that wait to be accepted.
    with ground.client(B, patience=20) as b:
        ground.attack(leave_names, ground.socket, until, copies=2)
        for _ in range(5):
            time.sleep(1)
            began = time.monotonic()
            status = b.call("Monitor.Status", target="good.example.net")["status"]
            took.append(time.monotonic() - began)
            if status.get("reason") == "name-not-resolved":
                raise Late(f"B's name is not resolved after {took[-1]:.1f} s")
    time.sleep(max(0, until - time.monotonic()))
    grown = ground.rss() - before
    seen = f"B's were answered within {max(took):.2f} s, {grown:+.1f} MiB"
    if grown > 8:
        raise Failure(seen)
    if max(took) > 2:
        raise Late(seen)
    return seen


def leave_names(path, until):
    number = 0
    while time.monotonic() < until:
        number += 1
        with contextlib.suppress(OSError, Refused, Failure), Client(path, 60) as client:
            client.send("Monitor.Watch", more=True, target=f"left-{os.getpid()}-{number}.example.com")


# ---------------------------------------------------------------- other protocols, other hosts


@attack("other protocols", "A adds file:, ftp:, gopher:, dict:, unix sockets and odd hosts, and servers redirect there",
        "none is sent, and nothing of the machine is in an answer")
def protocols(ground):
    secret = ground.directory / "secret"
    secret.write_text("the secret")
    secret.chmod(0o644)
    odd = [f"file://{secret}", f"FILE://{secret}", "ftp://198.51.100.80/", "gopher://198.51.100.80/_x", "dict://198.51.100.80/d",
           "smb://198.51.100.80/", "ldap://198.51.100.80/", "http:///x", "http://a b/", "http://198.51.100.80\r\nX: y/",
           "http://user:password@198.51.100.80/", "http://198.51.100.80:99999/", "http://198.51.100.80/a b", "javascript:1",
           "http://[::1%25/"]
    redirects = [f"file://{secret}", "gopher://198.51.100.80/_x", "dict://198.51.100.80/d", "javascript:1"]
    ground.server(well)
    ground.start()
    taken = []
    with ground.client(A) as a:
        for url in odd:
            with contextlib.suppress(Refused):
                number = a.add(url)
                taken.append((url, a.wait(number, within=1)))
        followed = []
        for url in redirects:
            number = a.add(f"http://{WELL}/to/{url}", accept=[{"first": 200, "last": 399}])
            a.wait(number, within=1)
            with contextlib.suppress(Refused):
                data = base64.b64decode(a.queue("Result", id=number)["answer"]["data"])
                if b"secret" in data and b"/to/" not in data:
                    followed.append(url)
    ground.must_live()
    bad = [url for url, request in taken if request["state"] == "done" and not url.startswith("http://")]
    seen = f"{len(odd) - len(taken)} of {len(odd)} refused; {len(followed)} of {len(redirects)} redirections followed"
    if bad or followed:
        raise Failure(f"{seen}: {bad + followed}")
    return seen


SECRETS = ["Authorization", "Cookie", "X-Api-Key", "PRIVATE-TOKEN", "X-Auth-Token", "X-Amz-Security-Token", "X-GitHub-OTP", "X-Passcode",
           "X-Jwt-Assertion", "Referer"]


@attack("redirected credentials", f"a server redirects B's requests, which have {', '.join(SECRETS)}, to another host and port",
        "those that follow arrive there with none of these; those that do not follow do not arrive")
def redirected(ground):
    first = ground.server(well)
    other = ground.server(well, "198.51.100.7")
    port = ground.server(well, WELL, 8080)
    ground.start()
    headers = [{"name": name, "value": "secret"} for name in SECRETS]
    with ground.client(B) as b:
        for url in ("http://198.51.100.7/x", f"http://{WELL}:8080/x"):
            for location in (False, True):
                b.wait(b.add(f"http://{WELL}/to/{url}", headers=headers, location=location, accept=[{"first": 200, "last": 399}]), within=2)
    arrived = other.read() + port.read()
    leaked = [line for line in arrived if any("secret" in value for _, value in line["headers"])]
    seen = f"{len(first.read())} redirected, {len(arrived)} arrived, {len(leaked)} with a secret"
    if len(arrived) != 2:
        raise Failure(seen)
    if leaked:
        raise Failure(seen)
    return seen
