"""What the machine does to the daemon, and what a user does by means of files: disks that are full, rows that are odd, sandboxes."""

import contextlib
import fcntl
import json
import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

from ground import A, ADD_URL, WAITS, B, DAEMON, WELL, Client, Failure, Fork, Late, Refused, Skip, add_many, someone
from hostile import name_server
from namespaces import ip
from neighbours import add_waiting
from programs import ROOT
from servers import Journal, plain, record, serve, well
from table import attack

# When a table with a million entries grows, its turn takes this long; it happens once.
LONGEST_PAUSE = 0.3


# ---------------------------------------------------------------- files


# The names, for a user who cannot list the directories.
NAMES = ("reachd.lock", "history.jsonl", "history.old.jsonl", "queue/queue.lock", "queue/queue.sqlite", "queue/queue.sqlite-wal",
         "queue/queue.reserve", "queue/spool", "reach.sock.lock", "reach.sock", "reach.toml")


def hold_locks(places, marker):
    """Locks every file that this user can open, as flock(1) does; the paths of those."""
    def lock(descriptor):
        # It waits for the daemon to end, and has it before the next one.
        fcntl.flock(descriptor, fcntl.LOCK_SH)

    opened = []
    for place in places:
        for directory, _, files in [*os.walk(place), (place, [], [])]:
            for name in {*files, directory, *(NAMES if directory == place else ())}:
                path = os.path.join(directory, name)
                with contextlib.suppress(OSError):
                    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                    threading.Thread(target=lock, args=(descriptor,), daemon=True).start()
                    opened.append(path)
    fresh = Path(marker).with_suffix(".new")
    fresh.write_text(json.dumps(opened))
    fresh.rename(marker)
    time.sleep(600)


@attack("locks held", "A locks every file and directory of the daemon's that it can open; then the daemon is started again, also over locks of mode 0644",
        "it starts each time, and answers B", measures=True)
def locks(ground):
    ground.start()
    opened = []
    for turn in range(2):
        marker = ground.public / f"locked-{turn}"
        holder = ground.attack(hold_locks, [str(ground.state), str(ground.runtime), str(ground.etc)], str(marker))
        while not marker.exists():
            time.sleep(0.02)
        time.sleep(0.2)
        opened = [Path(path).name for path in json.loads(marker.read_text())]
        if turn == 0:
            ground.measure(1)
        ground.stop()
        try:
            ground.start()
        except Failure as failure:
            raise Failure(f"A held {', '.join(sorted(set(opened)))}: {failure}") from None
        holder.end()
        if turn == 0:
            # As an older release left them.
            ground.stop()
            for path in (*ground.state.rglob("*.lock"), *ground.runtime.rglob("*.lock")):
                path.chmod(0o644)
            ground.start()
    return f"A could open {len(opened)} files ({', '.join(sorted(set(opened)))[:80]})"


def try_to_write(places):
    """What this user can make, change or link to below these."""
    done = []
    for place in places:
        for directory, names, files in os.walk(place):
            for name in ("planted", "queue.sqlite-journal", "history.jsonl.new", "reachd.lock.new"):
                path = os.path.join(directory, name)
                for what, act in (("file", lambda: open(path, "x").close()), ("symlink", lambda: os.symlink("/etc/passwd", path)),
                                  ("fifo", lambda: os.mkfifo(path)), ("directory", lambda: os.mkdir(path))):
                    with contextlib.suppress(OSError):
                        act()
                        done.append(f"{what} {path}")
            for name in files:
                path = os.path.join(directory, name)
                for what, act in (("write", lambda: open(path, "r+b").close()), ("remove", lambda: os.unlink(path)),
                                  ("hard link", lambda: os.link(path, f"{os.environ.get('PUBLIC')}/{name}"))):
                    with contextlib.suppress(OSError):
                        act()
                        done.append(f"{what} {path}")
    return done


def try_to_read(places):
    """The files below these that this user can read."""
    readable = []
    for place in places:
        for directory, _, files in [*os.walk(place), (place, [], NAMES)]:
            for name in files:
                with contextlib.suppress(OSError):
                    open(os.path.join(directory, name), "rb").close()
                    readable.append(name)
    return readable


@attack("planted links", "A makes files, symbolic and hard links, FIFOs and directories wherever it can below the daemon's directories, and reads what it can",
        "A can make and change nothing, and reads nothing of the queue")
def planted(ground):
    ground.server(well)
    ground.start()
    with ground.client(B) as b:
        b.wait(b.add(f"http://{WELL}/bytes/200000"))
        b.queue("Upload", data="c2VjcmV0")
    places = [str(ground.state), str(ground.runtime), str(ground.etc)]
    os.environ["PUBLIC"] = str(ground.public)
    done = ground.attack(try_to_write, places).result()
    readable = ground.attack(try_to_read, places).result()
    secret = [each for each in readable if each not in ("history.jsonl", "history.old.jsonl", "reach.toml", "reachd.lock")
              and "/spool" not in each]
    seen = f"{len(done)} made or changed; readable: {', '.join(sorted(set(readable))) or 'none'}"
    if done or secret:
        raise Failure(f"{seen}: {done[:3]} {secret[:3]}")
    return seen


@attack("links in a sticky directory", "metrics.file and the socket are in a directory like /tmp, where A planted symbolic links, hard links and FIFOs at every name next to them",
        "no file of the daemon's is written through a link, and the daemon answers")
def sticky(ground):
    victim = ground.state / "victim"
    victim.write_text("untouched")
    os.chown(victim, DAEMON, DAEMON)
    found = []
    for kind in ("symlink", "hard link", "fifo"):
        place = ground._directory(f"sticky-{kind[:4].strip()}", 0o1777, 0)

        def plant():
            for name in ("reach.prom", "reach.prom.new"):
                path = place / name
                with contextlib.suppress(OSError):
                    if kind == "symlink":
                        path.symlink_to(victim)
                    elif kind == "fifo":
                        os.mkfifo(path)
                        path.chmod(0o666)
                    else:
                        os.link(victim, path)

        ground.attack(plant).result()
        ground.start(f'[metrics]\nfile = "{place}/reach.prom"\ninterval = "1s"\nlisten = "127.0.0.1:9101"\n')
        time.sleep(0.3)
        if victim.read_text() != "untouched":
            found.append(f"{kind}: written through")
        page = scrape()
        if not page:
            found.append(f"{kind}: metrics are not served")
        if ground.stop() != 0:
            found.append(f"{kind}: it ended with {ground.ending()}")
    if found:
        raise Failure("; ".join(found))
    return "three kinds, nothing written, the metrics are served"


def scrape(within=2):
    """The metrics, or nothing in time."""
    try:
        with socket.create_connection(("127.0.0.1", 9101), within) as connection:
            connection.settimeout(within)
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return connection.recv(1 << 16)
    except OSError:
        return b""


DAMAGED_EVENTS = ["''", "'{'", "'x'", "x'00ff'", "'{}'", "'{\"v\":1,\"type\":\"queue\"}'", "42", "'{\"a\":1},{\"b\":2}'", "'{' || char(10) || '}'"]


@attack("damaged events of requests", f"{len(DAMAGED_EVENTS)} rows in the queue's file, of events that the journal has yet to record, are damaged",
        "the journal can be read to its end, says what is missing, and the log names each row")
def damaged_events(ground):
    ground.start()
    with ground.client(A) as a:
        a.add(ADD_URL, **WAITS)
    ground.stop()
    file = ground.state / "queue" / "queue.sqlite"
    with contextlib.closing(sqlite3.connect(file)) as database:
        for number, text in enumerate(DAMAGED_EVENTS, 1000):
            database.execute(f"INSERT INTO journal_event (number, event) VALUES ({number}, {text})")
        database.commit()
    for path in file.parent.glob("queue.sqlite*"):
        os.chown(path, DAEMON, DAEMON)
    ground.start()
    with ground.client(B) as b, ground.client(A) as a:
        # What was damaged comes first.
        for number in range(3):
            a.add(f"{ADD_URL}/{number}", **WAITS)
        time.sleep(0.5)
        b.call("Monitor.Status")
    try:
        with ground.client(0) as root:
            page = root.call("Monitor.Journal", limit=1000)
    except json.JSONDecodeError as error:
        raise Failure(f"the journal's answer is no JSON: {error}") from None
    read = ground.reach(0, "history", "--events", "--json")
    gaps = sum(event["type"] == "gap" and event["reason"] == "damaged" for event in page["events"])
    queued = sum(event["type"] == "queue" for event in page["events"])
    named = ground.log.read_text(errors="replace").count("of the queue's file is damaged")
    seen = f"{len(page['events'])} events, {gaps} gaps, {queued} of requests; {named} rows named in the log; reach history ends with {read.returncode}"
    if not page["complete"] or gaps != len(DAMAGED_EVENTS) or queued != 4 or named != gaps or read.returncode != 0:
        raise Failure(seen)
    return seen


LOCAL = ["::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::1", "127.0.0.1"]


def stands_for_this_machine(name, kind, message, end):
    """The address whose number the name begins with."""
    address = LOCAL[int(name.split(".")[0])]
    is_wanted = kind == (28 if ":" in address else 1)
    packed = socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
    return [plain(message, end, [record(b"\xc0\x0c", kind, packed)] if is_wanted else [])]


@attack("scrapes of this machine", f"a name server gives names that /probe may test these addresses: {', '.join(LOCAL)}",
        "no scrape connects to the machine's own service",
        configuration='[metrics]\nlisten = "127.0.0.1:9101"\n[[probe_template]]\nname = "all"\n'
                      'scrape_targets = ["http://*.example.net:8080"]\n')
def scrapes_of_this_machine(ground):
    name_server(ground, stands_for_this_machine)
    listener = socket.socket(socket.AF_INET6)
    listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    listener.bind(("::", 8080))
    listener.listen()
    journal = Journal(ground.directory / "own-service")
    ground.processes.append(Fork(serve, listener, well, journal))
    listener.close()
    ground.start(ground.configuration_text)
    answers = []
    for number in range(len(LOCAL)):
        with socket.create_connection(("127.0.0.1", 9101), 8) as connection:
            target = f"http://{number}.example.net:8080/"
            connection.sendall(f"GET /probe?module=all&target={target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            text = b""
            with contextlib.suppress(TimeoutError):
                while piece := connection.recv(1 << 16):
                    text += piece
            answers.append(text)
    reached = [LOCAL[number] for number, text in enumerate(answers) if b"probe_success 1" in text]
    arrived = len(journal.paths())
    seen = f"{len(answers)} scrapes, {arrived} arrived ({', '.join(reached) or 'none'})"
    if arrived or reached:
        raise Failure(seen)
    if not all(b"probe_success 0" in text for text in answers):
        raise Failure(f"{seen}; {answers[0][:200]!r}")
    return seen


@attack("silent scrapers", "A has 200 connections to the metrics' port and says nothing by them",
        "a scrape is answered within 2 s", configuration='[metrics]\nlisten = "127.0.0.1:9101"\n')
def silent_scrapers(ground):
    ground.start()

    def be_silent():
        held = []
        while True:
            with contextlib.suppress(OSError):
                held.append(socket.create_connection(("127.0.0.1", 9101), 1))
            held = held[-200:]
            time.sleep(0.005)

    ground.attack(be_silent)
    time.sleep(1.5)
    answered = sum(scrape().startswith(b"HTTP/1.1 200") for _ in range(3))
    if answered < 3:
        raise Late(f"{answered} of 3 scrapes were answered")
    return "3 of 3 scrapes were answered"


@attack("history that is a FIFO", "B reads a history from a directory in which A made history.jsonl a FIFO, a link to /dev/zero, a directory",
        "the command ends within 5 s")
def fifo_history(ground):
    found = []
    for number, make in enumerate((os.mkfifo, lambda path: os.symlink("/dev/zero", path), os.mkdir)):
        place = ground._directory(f"history-{number}", 0o755, A)
        with someone(A):
            make(place / "history.jsonl")
        try:
            result = ground.reach(B, "history", "--state", place, within=5)
            found.append(f"exit {result.returncode}")
        except subprocess.TimeoutExpired:
            raise Late(f"{('a FIFO', '/dev/zero', 'a directory')[number]}: it hangs") from None
    return ", ".join(found)


@attack("history while it grows", "B reads the daemon's history as any user may", "it is read, or the daemon answers in its place")
def history_is_readable(ground):
    ground.start()
    ip("route", "del", "default")
    time.sleep(0.3)
    result = ground.reach(B, "history", "--state", ground.state)
    if result.returncode != 0:
        raise Failure(f"exit {result.returncode}: {result.stderr.strip()[:120]}")
    return f"{len(result.stdout.splitlines())} lines"


# ---------------------------------------------------------------- disks


@attack("full disk and a kill", "the state is on a file system of 4 MiB, which A fills; B cancels requests, and the daemon is killed",
        "a cancel that was confirmed holds after the restart", measures=True)
def full_disk(ground):
    ground.mount("-t", "tmpfs", "-o", f"size=4m,mode=0755,uid={DAEMON},gid={DAEMON}", "tmpfs", ground.state)
    ground.start()
    with ground.client(B) as b, ground.client(A) as a:
        mine = [b.add(ADD_URL, **WAITS) for _ in range(5)]
        size = 262144
        while size >= 64:
            try:
                a.add(ADD_URL, **WAITS, method="POST", body=bytes(size))
            except Refused:
                size //= 2
        # What is left is taken, too.
        with contextlib.suppress(OSError), open(ground.state / "filler", "wb") as filler:
            filler.write(bytes(4 << 20))
        confirmed, refused = [], []
        for number in mine:
            try:
                b.socket.settimeout(3)
                b.queue("Cancel", id=number)
                confirmed.append(number)
            except (Refused, OSError) as error:
                refused.append(str(error))
                if not isinstance(error, Refused):
                    break
    ground.measure(1, may_refuse=True)
    ground.kill()
    (ground.state / "filler").unlink()
    ground.start()
    with ground.client(B) as b:
        lost = []
        for number in confirmed:
            with contextlib.suppress(Refused):
                if b.show(number)["state"] != "cancelled":
                    lost.append(number)
    seen = f"{len(confirmed)} of 5 confirmed{', else ' + refused[0][:60] if refused else ''}; {len(lost)} of them lost"
    if lost:
        raise Failure(seen)
    return seen


ODD = [
    "UPDATE request SET lifetime = -9223372036854775808", "UPDATE request SET lifetime = 9223372036854775807",
    "UPDATE request SET attempts = 9223372036854775807, tries = 9223372036854775807, network_failures = 9223372036854775807",
    "UPDATE request SET attempts = -9223372036854775808, tries = -5, network_failures = -5",
    "UPDATE sqlite_sequence SET seq = 9223372036854775807", "UPDATE request SET id = 9223372036854775807",
    "UPDATE request SET id = -9223372036854775808", "UPDATE request SET deadline_wall = 9223372036854775807, deadline_boot = 9223372036854775807",
    "UPDATE request SET deadline_wall = -9223372036854775808, deadline_boot = -9223372036854775808",
    "UPDATE request SET not_before_wall = 9223372036854775807, not_before_boot = 9223372036854775807, not_before_in = 9223372036854775807",
    "UPDATE request SET not_before_wall = -9223372036854775808, not_before_boot = -1, not_before_in = -9223372036854775808",
    "UPDATE request SET bytes = -9223372036854775808", "UPDATE request SET bytes = 9223372036854775807, body_bytes = 9223372036854775807",
    "UPDATE request SET owner = -1", "UPDATE request SET owner = 9223372036854775807", "UPDATE request SET priority = 999999999999",
    "UPDATE request SET maximum_attempts = -9223372036854775808", "UPDATE request SET state = 77",
    "UPDATE request SET state = 1, lease_wall = -9223372036854775808", "UPDATE request SET url = 'no url'", "UPDATE request SET url = x'ff00fe'",
    "UPDATE request SET condition = ',,,'", "UPDATE request SET accepted = '999999999999999999999-1'", "UPDATE request SET headers = '[['",
    "UPDATE request SET method = ''", "UPDATE request SET body_kind = 9", "UPDATE request SET body_kind = 2, body_path = '../../../etc/passwd', body_bytes = 5",
    "UPDATE request SET output_path = '/etc/passwd'", "UPDATE request SET state = 2, over_wall = -9223372036854775808",
    "UPDATE request SET state = 2, over_wall = 9223372036854775807", "UPDATE boot SET identity = 'x'",
    "UPDATE request SET boot = 9223372036854775807", "INSERT INTO held_queue VALUES (-9223372036854775808)",
    "INSERT INTO breaker VALUES ('http://198.51.100.80:80', 'r0', 9223372036854775807, 9223372036854775807, 1, 9223372036854775807)",
    "INSERT INTO outbox VALUES (9223372036854775807, x'00', 9223372036854775807, 9223372036854775807)",
    "INSERT INTO result VALUES (1, 9223372036854775807, 'x', 9, '../../x', 9223372036854775807, NULL)",
    "PRAGMA user_version = -5", "PRAGMA user_version = 99", "DROP TABLE request", "DELETE FROM boot",
]


@attack("odd integers in the queue's file", f"{len(ODD)} changes of queue.sqlite: numbers at the ends of their range, words that are none, tables that are gone",
        "after each the daemon starts, answers status, and lists and explains", measures=True)
def odd_integers(ground):
    ground.start()
    with ground.client(A) as a:
        for _ in range(3):
            a.add(ADD_URL, **WAITS)
    ground.measure(1)
    ground.stop()
    file = ground.state / "queue" / "queue.sqlite"
    original = ground.directory / "original"
    shutil.copy(file, original)
    odd = []
    for change in ODD:
        for path in file.parent.iterdir():
            if path.is_file() and path.name.startswith("queue.sqlite"):
                path.unlink()
        shutil.copy(original, file)
        with contextlib.closing(sqlite3.connect(file)) as database:
            with contextlib.suppress(sqlite3.Error):
                database.execute(change)
                database.commit()
        os.chown(file, DAEMON, DAEMON)
        try:
            ground.start()
            with ground.client(A) as a:
                with contextlib.suppress(Refused):
                    for request in a.queue("List")["requests"]:
                        a.queue("Explain", id=request["id"])
                with contextlib.suppress(Refused):
                    a.add(ADD_URL, **WAITS)
            ground.await_answer()
            ground.stop()
        except (Failure, OSError, subprocess.TimeoutExpired) as failure:
            odd.append(f"{change}: {ground.ending() if ground.daemon.poll() is not None else failure}")
            if ground.daemon.poll() is None:
                ground.kill()
    seen = f"{len(ODD) - len(odd)} of {len(ODD)} withstood"
    if odd:
        raise Failure(f"{seen}; {'; '.join(odd[:4])}{' ...' if len(odd) > 4 else ''}")
    return seen


# For each kind of value that a key may have.
ENDS = {
    "integers": ["9223372036854775807", "4294967296", "2147483647", "1", "0", "-1", "-9223372036854775808"],
    "durations": ['"9223372036854775807s"', '"106751d"', '"2562047h"', '"9223372036s"', '"1s"', '"1ms"', '"0s"', '"-1s"'],
}


def numeric_keys():
    """(table, key, kind) of every key whose default is a number or a duration."""
    import re
    table, keys = "", []
    for line in (ROOT / "contrib" / "reach.toml").read_text().splitlines():
        if header := re.match(r"#\s?\[(\w+)\]$", line):
            table = header[1]
        elif found := re.match(r'#(\w+) = (\d+|"\d+(?:ms|s|m|h|d)")$', line):
            keys.append((table, found[1], "integers" if found[2].isdigit() else "durations"))
    return keys


def written(keys):
    """A configuration, and which key is on which line."""
    lines, places = [], {}
    for table in sorted({table for table, _, _ in keys}):
        if table:
            lines.append(f"[{table}]")
        for of, key, value in keys:
            if of == table:
                lines.append(f"{key} = {value}")
                places[len(lines)] = (of, key, value)
    return "\n".join(lines) + "\n", places


def without_refused(ground, keys):
    """The keys whose values the daemon takes together; what it says of others names the line."""
    import re
    file = ground.etc / "ends.toml"
    for _ in range(8):
        text, places = written(keys)
        file.write_text(text)
        checked = subprocess.run([ground.options.reachd, "--check-config", "--config", str(file)], capture_output=True,
                                 text=True, user=DAEMON, group=DAEMON, extra_groups=[], timeout=10)
        if checked.returncode == 0:
            return keys, text
        if checked.returncode != 78:
            raise Failure(f"--check-config ends with {checked.returncode}: {checked.stderr[-200:]}")
        bad = {places[int(line)] for line in re.findall(r"ends\.toml:(\d+)", checked.stderr + checked.stdout)
               if int(line) in places}
        if not bad:
            raise Failure(f"refused without a line: {checked.stderr[-200:]}")
        keys = [key for key in keys if key not in bad]
    raise Failure("the configuration is refused again and again")


@attack("numbers of the configuration", "every key that is a number or a duration has the ends of its range, and values beyond them",
        "values are refused with their line, or the daemon starts with all that are taken, answers or says why not, and ends in order")
def extreme_configuration(ground):
    keys = numeric_keys()
    if len(keys) < 20:
        raise Failure(f"only {len(keys)} keys found")
    taken = 0
    for round_ in range(max(map(len, ENDS.values()))):
        wanted = [(table, key, ENDS[kind][round_ % len(ENDS[kind])]) for table, key, kind in keys]
        kept, text = without_refused(ground, wanted)
        taken += len(kept)
        ground.start(text, answers=False)
        deadline, answered = time.monotonic() + 5, False
        while not answered and ground.daemon.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError, Failure, Refused), ground.client(0) as root:
                root.call("Monitor.Status")
                with contextlib.suppress(Refused):
                    root.add(f"http://{WELL}/")
                answered = True
            time.sleep(0.02)
        values = ", ".join(sorted({value for _, _, value in wanted}))
        if ground.daemon.poll() not in (None, 78) or not (answered or ground.daemon.poll() == 78):
            raise Failure(f"with {values}: it ends with {ground.ending()} or says nothing: {ground.last_lines()}")
        if ground.daemon.poll() is None:
            time.sleep(0.1)
            ground.must_live()
            if ground.stop() != 0:
                raise Failure(f"with {values}: it ends with {ground.ending()}: {ground.last_lines()}")
    return f"{len(keys)} keys; {taken} values taken, the rest refused"


@attack("reload of a wrong file", "the file is changed to one that has errors, and read again by the commands of the unit's reload",
        "the check fails with the line of the error, so systemctl reload does; a daemon that reads it all the same says so, and goes on")
def wrong_reload(ground):
    ground.start()
    file, process = ground.etc / "reach.toml", ground.daemon.pid
    wrong = ["x = [", "[queue]\nrequests = -1\n", "[nothing]\nat = 1\n", "\0", "[[probe]]\n"]
    for text in wrong:
        file.write_text(text)
        check = subprocess.run([ground.options.reachd, "--check-config", "--config", str(file)], text=True,
                               capture_output=True, timeout=20)
        if check.returncode == 0 or "reach.toml" not in check.stderr + check.stdout:
            raise Failure(f"{text!r}: the check ends with {check.returncode}: {check.stderr}")
        with ground.client(0) as root:
            try:
                root.call("Monitor.Reload")
            except Refused:
                root.call("Monitor.Status")
                continue
            raise Failure(f"{text!r} is read again without an error")
    os.kill(process, signal.SIGHUP)
    with ground.client(B) as b:
        b.call("Monitor.Status")
    ground.must_live()
    return f"{len(wrong)} files refused by the check and by the daemon, which goes on"


@attack("a million rows", "the queue's file has as many requests of A's as the time allows, all waiting",
        "the daemon answers status within 1 s of its start and B's add within 30 s, and both within 300 ms then")
def million(ground):
    ground.start("[queue]\nrequests = 1000000\nrequests_per_user = 1000000\nbytes = 8589934592\nbytes_per_user = 4294967296\n")
    with ground.client(A) as a:
        a.add(ADD_URL, **WAITS)
    ground.stop()
    count = ground.options.rows
    file = ground.state / "queue" / "queue.sqlite"
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA journal_mode = DELETE")
        database.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA cache_size = -400000")
        columns = [row[1] for row in database.execute("PRAGMA table_info(request)") if row[1] != "id"]
        names = ", ".join(columns)
        there = 1
        while there < count:
            more = min(there, count - there)
            database.execute(f"INSERT INTO request ({names}) SELECT {names} FROM request LIMIT {more}")
            there += more
        database.commit()
    for path in file.parent.glob("queue.sqlite*"):
        os.chown(path, DAEMON, DAEMON)
    began = time.monotonic()
    ground.start(answers=False)
    ground.await_answer(30)
    status = time.monotonic() - began
    slowest = 0
    while True:
        with ground.client(B, patience=60) as b:
            asked = time.monotonic()
            b.call("Monitor.Status")
            slowest = max(slowest, time.monotonic() - asked)
            try:
                b.add(ADD_URL, **WAITS)
                break
            except Refused as refused:
                if time.monotonic() - began > 60:
                    raise Failure(f"B's is refused: {refused}") from None
        time.sleep(0.05)
    ready = time.monotonic() - began
    # Until it has taken up what it read.
    while time.monotonic() < began + 35:
        spent = ground.processor_time()
        time.sleep(0.5)
        if ground.processor_time() - spent < 0.05:
            break
    ground.measure()
    rss = ground.rss()
    seen = f"{count} rows: status after {status:.1f} s, then within {slowest:.1f} s; add after {ready:.1f} s; {rss:.0f} MiB"
    # What the machine's other load takes of the processor is not the daemon's fault.
    if status > 1 or slowest > 1 or ready > 30 or max(ground.latency.p99.values()) * ground.share > LONGEST_PAUSE:
        raise Late(seen)
    return seen


# ---------------------------------------------------------------- memory, sandboxes, namespaces, clocks


def press(path):
    """Everything at once that makes a daemon remember: halves of messages, large bodies, watches, many connections."""
    import base64
    body = base64.b64encode(bytes(500_000)).decode()
    held = []
    for number in range(700):
        with contextlib.suppress(OSError, Refused, Failure):
            client = Client(path, 2)
            held.append(client)
            if number % 3 == 0:
                client.socket.sendall(b'{"method":"' + b"x" * 900_000)
            elif number % 3 == 1:
                client.add(ADD_URL, **WAITS, method="POST", body=body)
            else:
                client.send("Monitor.Watch", more=True, target=f"203.0.113.{number % 250 + 1}")
    return len(held)


@attack("little memory", "RLIMIT_AS leaves 160 MiB beyond what the daemon has when idle; A sends halves of messages, large bodies and watches",
        "the daemon is the same process, and B is answered")
def little_memory(ground):
    ground.start()
    # The threads of the disks and of names are there then: glibc reserves 64 MiB of addresses for each that allocates.
    with ground.client(B) as b:
        b.add(ADD_URL, **WAITS)
        b.call("Monitor.Status", target="a.example.net")
    idle, before = ground.size(), 0
    while idle != before:
        time.sleep(0.5)
        idle, before = ground.size(), idle
    ground.stop()
    ground.daemon_limits = [(resource.RLIMIT_AS, int(idle + 160) << 20)]
    ground.start()
    count = ground.attack(press, ground.socket).result(90)
    ground.must_live()
    ground.await_answer()
    return f"{count} connections, {ground.size() - idle:.0f} MiB more than at idle"


def confine():
    """A compiler for the program that takes netlink away from another, or where there is none the program that a build made."""
    if compiler := shutil.which("cc"):
        return compiler
    for place in (".build/debug/confine", ".build/release/confine"):
        if os.access(ROOT / place, os.X_OK):
            return ROOT / place
    raise Skip("there is no cc to build Tests/Support/confine with")


@attack("a sandbox without netlink", "seccomp refuses netlink sockets, or the subscription to notices",
        "the daemon says unknown or asks the kernel, takes requests, and ends in order")
def without_netlink(ground):
    program = ground.directory / "confine"
    found = confine()
    if Path(found).name == "confine":
        shutil.copy(found, program)
    else:
        subprocess.run([found, "-O1", "-o", program, ROOT / "Tests/Support/confine/main.c"], check=True)
    program.chmod(0o755)
    seen = []
    for kind in ("no-netlink", "no-groups"):
        ground.daemon_prefix = [str(program), kind]
        ground.start()
        with ground.client(B) as b:
            status = b.call("Monitor.Status")["status"]["status"]
            number = b.add(ADD_URL, **WAITS)
            state = b.show(number)["state"]
        code = ground.stop()
        seen.append(f"{kind}: {status}, a request is {state}, exit {code}")
        if code != 0 or (kind == "no-netlink" and status != "unknown"):
            raise Failure("; ".join(seen))
    return "; ".join(seen)


@attack("no /sys", "/sys is an empty directory", "the daemon finds the path by the kernel alone, and lists links")
def no_sys(ground):
    ground.mount("-t", "tmpfs", "tmpfs", "/sys")
    ground.server(well)
    ground.start()
    with ground.client(B) as b:
        status = b.call("Monitor.Status")["status"]
        links = b.call("Monitor.Links")["links"]
        state = b.wait(b.add(f"http://{WELL}/x"))["state"]
    seen = f"{status['status']} through {status['interface']}, class {status['class']}, {len(links)} links, a request {state}"
    if status["status"] != "reachable" or not links or state != "done":
        raise Failure(seen)
    return seen


@attack("a namespace that goes", "the far end's namespace is deleted under the daemon while it sends: its link goes without a word",
        "the daemon lives, says not-reachable, keeps B's requests, and ends in order")
def namespace_goes(ground):
    ground.server(well)
    ground.start()
    sender = ground.attack(add_many, ground.socket, [f"http://{WELL}/a"], 2000)
    time.sleep(0.3)
    sender.end()
    for process in ground.processes:
        process.end()
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), ground.internet)
    deadline = time.monotonic() + 8
    while time.monotonic() < deadline:
        with ground.client(B) as b:
            status = b.call("Monitor.Status")["status"]
        if status["status"] == "not-reachable":
            break
        time.sleep(0.1)
    with ground.client(B) as b:
        state = b.show(b.add(f"http://{WELL}/mine"))["state"]
    ground.must_live()
    code = ground.stop()
    seen = f"{status['status']} ({status['reason']}), B's is {state}, exit {code}"
    if status["status"] != "not-reachable" or state != "waiting" or code != 0:
        raise Failure(seen)
    return seen


@attack("a clock past 2262", "the wall clock says 2263, beyond what nanoseconds in 64 bits can say",
        "the daemon starts, answers, takes requests, and lists what it had")
def far_clock(ground):
    compiler = shutil.which("cc")
    if not compiler:
        raise Skip("there is no cc to build Tests/Support/wallclock with")
    library, offset = ground.directory / "wallclock.so", ground.directory / "offset"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, ROOT / "Tests/Support/wallclock/wallclock.c"], check=True)
    ground.start()
    with ground.client(B) as b:
        before = b.add(ADD_URL, **WAITS)
    ground.stop()
    seen = []
    for year, seconds in ((2263, 9_250_000_000), (9999, 253_000_000_000), (1900, -2_208_988_800)):
        offset.write_text(str(seconds - int(time.time())))
        offset.chmod(0o644)
        ground.environment = {"LD_PRELOAD": str(library), "WALL_CLOCK_OFFSET": str(offset)}
        try:
            ground.start()
            with ground.client(B) as b:
                b.show(b.add(ADD_URL, **WAITS))
                b.queue("List")
            with contextlib.suppress(Refused), ground.client(B) as b:
                b.show(before)
            ground.stop()
        except (Failure, OSError) as failure:
            raise Failure(f"{year}: {ground.ending() if ground.daemon.poll() is not None else failure}") from None
        seen.append(str(year))
    # A clock that jumps while it runs.
    offset.write_text("0")
    ground.start()
    offset.write_text("9000000000")
    with ground.client(B) as b:
        b.queue("List")
        b.add(ADD_URL, **WAITS)
    ground.await_answer()
    return f"{', '.join(seen)}, and a jump"


@attack("hook's children", "a hook starts a child in a session of its own, and runs into its time limit",
        "the child is gone 4 s after the limit, or SECURITY.md says that hooks are trusted")
def hook_children(ground):
    hooks = ground.etc / "hooks.d"
    hooks.mkdir()
    mark = ground._directory("hook", 0o755, DAEMON)
    hook = hooks / "leave"
    hook.write_text(f"#!/bin/sh\nsetsid sh -c 'echo $$ > {mark}/child; exec sleep 300' &\nexec sleep 300\n")
    hook.chmod(0o755)
    ground.start('[hooks]\ntimeout = "1s"\n')
    ip("route", "del", "default")
    deadline = time.monotonic() + 5
    while not (mark / "child").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    if not (mark / "child").exists():
        raise Failure("the hook did not run")
    time.sleep(4.5)
    child = int((mark / "child").read_text())
    lives = Path(f"/proc/{child}").exists() and "sleep" in Path(f"/proc/{child}/cmdline").read_text()
    ground.stop()
    outlives = Path(f"/proc/{child}").exists()
    if outlives:
        os.kill(child, signal.SIGKILL)
    documented = "setsid" in (ROOT / "SECURITY.md").read_text() if (ROOT / "SECURITY.md").exists() else False
    seen = f"the child {'lives' if lives else 'is gone'} after the limit, and {'outlives' if outlives else 'does not outlive'} the daemon"
    if lives and not documented:
        raise Failure(seen)
    return seen + ("; documented" if lives else "")


@attack("killed again and again", "the daemon is killed 20 times while A fills the queue and B adds a request each time",
        "each of B's that was confirmed is there")
def killed(ground):
    ground.start()
    confirmed = []
    for _ in range(20):
        sender = ground.attack(add_waiting, ground.socket, 5000)
        with ground.client(B) as b:
            for _ in range(3):
                confirmed.append(b.add(ADD_URL, **WAITS))
        ground.kill()
        sender.end()
        ground.start()
    with ground.client(B) as b:
        there = {request["id"] for request in b.queue("List", limit=1000)["requests"]}
    lost = set(confirmed) - there
    if lost:
        raise Failure(f"{len(lost)} of {len(confirmed)} lost")
    return f"{len(confirmed)} of {len(confirmed)} there"
