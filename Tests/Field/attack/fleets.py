"""What a user of a host, and a host, do to a fleet, with a real nats-server."""

import json
import os
import random
import re
import shutil
import struct
import subprocess
import time
import zlib
from pathlib import Path
from types import SimpleNamespace

import enrolling
import nats
from ground import A, ADD_URL, B, DAEMON, WAITS, Failure, Fork, Late, Skip
from namespaces import ip
from neighbours import replace_without_end
from programs import Program, output_of, wait_for
from table import attack

SERVER = ("127.0.0.1", 4222)
URL = f"nats://{SERVER[0]}:{SERVER[1]}"
#: Of each user a host sends so many events together, and one more each five seconds.
SHARE = 2000


def program(ground):
    if reason := nats.why_not(ground.options.bin, "reach-fleet"):
        raise Skip(reason)
    return ground.options.bin / "reach-fleet"


MORE = """
send = ["status", "connectivity", "probe", "queue", "wake"]
targets = ["internet", "interface:w0"]
"""


@attack("a fleet's stream filled by a user", "A replaces a request that waits 3,600 times, between outages and requests of B's, on a host whose agent "
        "reports to a nats-server with TLS", f"of A's 7,200 events no more than {SHARE} and a few leave, a gap counts the rest, and all of the machine's and of "
        "B's arrive", configuration='[targets]\nw = "interface:w0"\n[journal]\nevents = ["status", "connectivity", "probe", "queue", "wake"]\n')
def stream_filled(ground):
    place = ground._directory("fleet", 0o755, 0)
    engine = nats.Engine(place, program(ground), SERVER, ["mine"])
    try:
        engine.start()
        return judge_stream(ground, engine)
    finally:
        engine.stop()


def judge_stream(ground, engine):
    os.chown(engine.directory / "mine.nk", DAEMON, DAEMON)
    own = ground._directory("agent", 0o700, DAEMON)
    ip("link", "add", "w0", "type", "veth", "peer", "name", "w1")
    ip("link", "set", "w1", "up")
    ip("address", "add", "192.0.2.200/32", "dev", "w0")
    ground.start(ground.configuration_text)

    def flap():
        for state in ("up", "down", "up", "down"):
            ip("link", "set", "w0", state)
            time.sleep(0.3)
    daemon = SimpleNamespace(directory=own, socket=ground.socket)
    agent = nats.Agent(engine, daemon, "mine", SERVER, MORE, user=DAEMON, group=DAEMON, extra_groups=[], env={"PATH": "/usr/bin:/bin"})
    agent.start()
    try:
        flap()
        with ground.client(B) as b:
            for number in range(5):
                b.queue("Cancel", id=b.add(f"{ADD_URL}/{number}", **WAITS))
        replaced = sum(fork.result(35) for fork in ground.attack(replace_without_end, ground.socket, 1800, copies=2))
        flap()
        with ground.client(B) as b:
            for number in range(5):
                b.queue("Cancel", id=b.add(f"{ADD_URL}/{number}", **WAITS))
        deadline = time.monotonic() + 25
        while not agent.has_sent_all() and time.monotonic() < deadline:
            time.sleep(0.3)
        report = agent.report
        time.sleep(1)
    finally:
        agent.stop()
    engine.stop()
    engine.start(is_open=True)
    with nats.Client(SERVER) as client:
        sent = [json.loads(line) for _, headers, data in client.messages("REACH_EVENTS", "reach.v1.ev.mine") if "Reach-Mark" not in headers
                for line in data.splitlines()]
    with ground.client(0) as root:
        kept = root.journal()
    arrived = {event["n"] for event in sent if event["type"] != "gap"}
    gaps = [event for event in sent if event["type"] == "gap"]
    users = {event["n"]: event.get("user") for event in kept}
    of_a, whole = sum(users.get(number) == A for number in arrived), sum(user == A for user in users.values())
    missing = [event for event in kept if event["type"] != "gap" and event.get("user") != A and event["n"] not in arrived]
    seen = f"{replaced} replaced, {whole} events of A's in the journal, {of_a} in the stream; " \
           f"{len(gaps)} gaps ({', '.join(sorted({str(gap.get('reason')) for gap in gaps}))}); {len(missing)} of the others' {len(users) - whole} missing"
    if of_a > SHARE + 20 or missing or not gaps:
        raise (Failure if report.get("behind") == 0 else Late)(seen)
    return seen


# ---------------------------------------------------------------- what a reader keeps


def summed(content):
    """With the checksum that the program writes."""
    return bytes(content) + struct.pack("<I", zlib.crc32(content))


def changed(content, seed):
    chance, changed = random.Random(seed), bytearray(content[:-4])
    for _ in range(2):
        changed[chance.randrange(30, len(changed))] = chance.choice([0, 1, 0x7f, 0x80, 0xff])
    return summed(changed)


@attack("planted copies of the fleet", "the files that B's reader keeps of a fleet are links to a file of B's, FIFOs, directories, cut off, empty, noise, 4 GB, of other "
        "streams, of another version, changed with a right checksum; their directory is a link to one of A's, and is A's", "B reads what the server has each time "
        "(of those with a right checksum, whatever they say), nothing of another's is read or written, and no file that a link leads to")
def planted_copies(ground):
    fleet = program(ground)
    place, home, private, evil = (ground._directory(*each) for each in (("fleet", 0o755, 0), ("home", 0o755, B), ("private", 0o700, B), ("evil", 0o777, A)))
    engine = nats.Engine(place, fleet, SERVER, [f"host-{number}" for number in range(200)], users=["reader"])
    os.chown(place / "reader.nk", B, B)

    def read(**environment):
        done = subprocess.run(
            [fleet, "status", *engine.access("reader"), "--json"], user=B, group=B,
            extra_groups=[], capture_output=True, text=True, timeout=20, cwd="/", env={"PATH": "/usr/bin:/bin", "HOME": str(home), **environment}, check=False)
        return done.returncode, sorted(json.loads(line).get("host") or "" for line in done.stdout.splitlines())
    engine.start()
    try:
        whole, folder = read(), home / ".cache/reach-fleet"
        files = {path: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}
        names, wrong = list(files), []
        if whole[0] or len(whole[1]) < 200 or not files:
            raise Failure(f"without an attack it ends with {whole[0]}, says {len(whole[1])} hosts, and keeps {len(files)} files")
        secret = private / "secret"
        secret.write_text("untouched")
        kinds = {
            "links": lambda path: path.symlink_to(secret), "FIFOs": os.mkfifo, "directories": os.mkdir, "cut off": lambda path: path.write_bytes(files[path][:len(files[path]) // 2]),
            "empty": lambda path: path.touch(), "noise": lambda path: path.write_bytes(os.urandom(5000)), "4 GB": lambda path: (path.touch(), os.truncate(path, 4 << 30)),
            "of other streams": lambda path: path.write_bytes(files[names[names.index(path) - 1]]),
            "of another version": lambda path: path.write_bytes(summed(files[path][:-4].replace(b"reach-fleet 1 ", b"reach-fleet 9 ", 1))),
            **{f"changed {seed}": lambda path, seed=seed: path.write_bytes(changed(files[path], seed)) for seed in range(8)}}
        for kind, make in kinds.items():
            for path in files:
                path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
                make(path)
                os.chown(path, B, B, follow_symlinks=False)
                if not path.is_symlink():
                    path.chmod(0o700 if path.is_dir() else 0o600)
            code, hosts = read()
            # Nobody but B can write a right checksum.
            if (code, hosts) != whole and not (kind.startswith("changed") and 0 <= code < 128):
                wrong.append(f"{kind}: {code} and {len(hosts)} hosts")
        shutil.rmtree(home / ".cache")
        (home / ".cache").mkdir()
        os.chown(home / ".cache", B, B)
        (home / ".cache/reach-fleet").symlink_to(evil)
        for number, environment in enumerate(({}, {"CACHE_DIRECTORY": str(evil)})):
            for path, content in files.items():
                (evil / path.name).write_bytes(changed(content, number))
            if read(**environment) != whole or any(path.stat().st_uid == B for path in evil.iterdir()):
                wrong.append(f"A's directory, {'by its name' if environment else 'by a link'}")
        if secret.read_text() != "untouched":
            wrong.append("a file of B's was written")
    finally:
        engine.stop()
    if wrong:
        raise Failure("; ".join(wrong))
    return f"{len(kinds) + 2} kinds of {len(files)} files: as without any"


# ---------------------------------------------------------------- hosts that join


def ask_without_end(seed_file, host, seconds):
    """Renews a host's token again and again; how often."""
    own = enrolling.Host(SERVER[1], seed_file)
    key = enrolling.public_key(re.search(r"^SU[A-Z2-7]{56}$", Path(seed_file).read_text(), re.M)[0])
    body = json.dumps({"v": 1, "key": key}).encode()
    message = f"PUB reach.v1.enroll.{host}.{key} _INBOX_ENROLL.{key} {len(body)}\r\n".encode() + body + b"\r\n"
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        own.stream.write(message * 100)
        own.stream.flush()
        count += 100
        time.sleep(0.05)
    return count


@attack("a host that keeps others from joining", "a host renews its token 2,000 times a second, while ten others join one after the other, with a real nats-server "
        "and `reach-fleet enroll --serve`", "each of the others has its token within 10 s")
def keeping_others_out(ground):
    fleet = program(ground)
    place = ground._directory("fleet", 0o755, 0)
    accounts, version = place / "accounts", nats.version()
    (place / "nats.conf").write_text(output_of(fleet, "config", "--accounts", accounts, "--listen", f"{SERVER[0]}:{SERVER[1]}", "--store",
                                                place / "store", "--store-size", "100MB", "--for", version))
    server = Program(ground.logs / "nats", nats.nats_server(), "-c", place / "nats.conf")
    server.start()
    desk = None
    try:
        admin, token = place / "admin.nk", place / "token"
        token.write_text(output_of(fleet, "sign", "--accounts", accounts, "admin", output_of(fleet, "key", admin).split()[0], "--role", "admin"))
        output_of(fleet, "key", admin, "--token", token)
        access = ["--server", URL, "--key-file", admin]
        wait_for(lambda: not subprocess.run([str(word) for word in (fleet, "setup", *access)], capture_output=True, check=False).returncode,
                 "nats-server answers", 10)
        desk = subprocess.Popen([str(word) for word in (fleet, "enroll", "--accounts", accounts, "--serve", *access)], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)
        desk.stdout.readline()
        return judge_joins(ground, fleet, place, accounts)
    finally:
        if desk:
            desk.kill()
            desk.wait()
        server.stop()


def judge_joins(ground, fleet, place, accounts):
    def join(host):
        ticket, file = place / f"{host}.ticket", place / f"{host}.nk"
        ticket.write_text(output_of(fleet, "enroll", "--accounts", accounts, host))
        began = time.monotonic()
        done = subprocess.run([str(word) for word in (fleet, "join", "--token", ticket, "--server", URL, file)], capture_output=True, text=True, timeout=30,
                              check=False)
        return done.returncode, time.monotonic() - began, file
    code, alone, file = join("evil")
    if code:
        raise Failure(f"joining without an attack ends with {code}")
    asking = Fork(ask_without_end, str(file), "evil", 14, aside=True)
    ground.processes.append(asking)
    time.sleep(2)
    joins = [join(f"other-{number}")[:2] for number in range(10)]
    asked = asking.result(30)
    took = [seconds for code, seconds in joins if code == 0]
    seen = f"{asked} renewals; {len(took)} of 10 joined, within {max(took, default=0):.1f} s, alone {alone:.1f} s"
    if len(took) != 10 or asked < 5000:
        raise (Late if any(code == 75 for code, _ in joins) or asked < 5000 else Failure)(seen)
    if max(took) > 10:
        raise Late(seen)
    return seen
