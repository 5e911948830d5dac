"""What surrounds the machine: a portal's API, a file system that fails, servers newer than Debian's, and a shell that completes names."""

import contextlib
import importlib.util
import os
import pty
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

from frames import endless_hello_requests, endless_key_updates
from ground import ADD_URL, B, DAEMON, WAITS, WELL, Failure, Fork, Late, Refused, Skip
from hostile import INTERIM, PORTAL, PORTAL_PAGE, authority, name_server, portal, truth
from namespaces import inside, ip
from servers import repeats
from table import attack

# ---------------------------------------------------------------- a portal's API


def noting(handle):
    """Writes down each connection before it is handled."""
    def handle_noted(connection, journal, number):
        journal.write(path="/", connection=number)
        handle(connection, journal, number)
    return handle_noted


def announced(kind, handle, has_certificate):
    @attack(f"portal's API: {kind}", f"a portal's API, announced on the machine's link, answers with {kind} without end",
            "B is served meanwhile, and the question is given up", measures=True)
    def play(ground):
        context, _, _ = authority(ground, ["good.example.net"])
        name_server(ground, truth)
        journal = ground.server(noting(handle), port=8443, context=context if has_certificate else None)
        place = Path("/run/reach-portal")
        place.mkdir(exist_ok=True)
        (place / "r0").write_text("https://good.example.net:8443/api")
        ground.server(portal(PORTAL_PAGE.encode()), "203.0.113.99")
        ground.start(PORTAL)
        try:
            line = journal.wait(lambda line: "path" in line, 8)
            if line is None:
                raise Skip("the daemon did not ask the API within 8 s")
            ground.measure(2)
            ground.must_live()
        finally:
            (place / "r0").unlink()
        return f"{len({each['connection'] for each in journal.read() if 'connection' in each})} connections"


# ---------------------------------------------------------------- a disk that becomes read-only


@attack("writable again", "the state's file system is read-only for a while, in which a link and a target change and B adds requests",
        "queue, history and journal go on within 35 s after it, without a restart, and nothing that was confirmed is lost",
        configuration='[targets]\nw = "interface:w0"\n')
def writable_again(ground):
    compiler = shutil.which("cc")
    if not compiler:
        raise Skip("there is no cc to build readonly.c with")
    library, mark = ground.public / "readonly.so", ground.public / "read-only"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, Path(__file__).resolve().parent / "readonly.c"], check=True)
    ground.environment = {"LD_PRELOAD": str(library), "READ_ONLY_MARK": str(mark), "READ_ONLY_BELOW": str(ground.state)}
    ip("link", "add", "w0", "type", "veth", "peer", "name", "w1")
    ip("link", "set", "w1", "up")
    ground.start(ground.configuration_text)
    records = ("history.jsonl", "events.*.jsonl")

    def size(name):
        return sum(path.stat().st_size for path in ground.state.rglob(name))

    def change(state):
        ip("link", "set", "w0", state)
        time.sleep(0.3)
    with ground.client(B) as b:
        confirmed = [b.add(ADD_URL, **WAITS) for _ in range(3)]
        change("up")
        mark.touch()
        refused = 0
        for state in ("down", "up", "down"):
            change(state)
            try:
                confirmed.append(b.add(ADD_URL, **WAITS))
            except Refused:
                refused += 1
        before = {name: size(name) for name in records}
        change("up")
        stood_still = all(size(name) == before[name] for name in records)
        mark.unlink()
        began, left = time.monotonic(), ["queue", *records]
        while left and time.monotonic() < began + 35:
            change("down")
            change("up")
            if "queue" in left:
                with contextlib.suppress(Refused):
                    confirmed.append(b.add(ADD_URL, **WAITS))
                    left.remove("queue")
            left = [name for name in left if name == "queue" or size(name) <= before[name]]
        spent = time.monotonic() - began
    ground.kill()
    ground.start(ground.configuration_text)
    with ground.client(B) as b:
        found = {request["id"] for request in b.queue("List")["requests"]}
    lost = [number for number in confirmed if number not in found]
    seen = f"{refused} of 3 refused meanwhile; all go on after {spent:.1f} s; {len(confirmed)} confirmed, {len(lost)} lost"
    if lost or left:
        raise Failure(f"{seen}; do not go on: {', '.join(left)}")
    if refused != 3 or not stood_still:
        raise Failure(f"{seen}; but something was written meanwhile")
    return seen


@attack("read-only after an error", "the state's file system meets an error, and the kernel makes it read-only; then it is checked and mounted again",
        "what was confirmed before is there after a check of the file system, and calls are refused at once meanwhile", measures=True)
def read_only(ground):
    if not shutil.which("mkfs.ext4"):
        raise Skip("there is no mkfs.ext4")
    image = ground.directory / "image"
    with open(image, "wb") as file:
        file.truncate(32 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-E", f"root_owner={DAEMON}:{DAEMON}", str(image)], check=True)
    try:
        ground.mount("-o", "loop,errors=remount-ro", str(image), ground.state)
    except subprocess.CalledProcessError:
        raise Skip("there are no loop devices here") from None
    ground.state.chmod(0o755)
    source = subprocess.run(["findmnt", "-no", "SOURCE", str(ground.state)], capture_output=True, text=True, check=True).stdout.strip()
    trigger = Path(f"/sys/fs/ext4/{os.path.basename(source)}/trigger_fs_error")
    ground.start()
    with ground.client(B) as b:
        confirmed = [b.add(ADD_URL, **WAITS) for _ in range(5)]
        if not trigger.exists():
            raise Skip("this kernel makes no errors on request")
        trigger.write_text("1")
        refusals, slowest = [], 0
        for _ in range(5):
            began = time.monotonic()
            try:
                confirmed.append(b.add(ADD_URL, **WAITS))
            except Refused as error:
                refusals.append(str(error))
            slowest = max(slowest, time.monotonic() - began)
        ground.measure(1, may_refuse=True)
        ground.must_live()
    ground.kill()
    subprocess.run(["umount", str(ground.state)], check=True)
    subprocess.run(["fsck.ext4", "-fy", str(image)], capture_output=True, check=False)
    subprocess.run(["mount", "-o", "loop,errors=remount-ro", str(image), str(ground.state)], check=True)
    ground.start()
    with ground.client(B) as b:
        found = {request["id"] for request in b.queue("List")["requests"]}
        again = b.add(ADD_URL, **WAITS)
    lost = [number for number in confirmed if number not in found]
    seen = f"{len(confirmed)} confirmed, {len(lost)} lost; {len(refusals)} of 5 refused ({(refusals or ['none'])[0][:70]}) " \
           f"within {slowest:.1f} s; then request {again} was added"
    if lost:
        raise Failure(seen)
    if slowest > 5:
        raise Late(seen)
    return seen


# The question is HTTP/1.1, which has no frames.
announced("key updates", endless_key_updates, True)
announced("hello requests", endless_hello_requests, False)
announced("interim answers", repeats(INTERIM, INTERIM), True)


# ---------------------------------------------------------------- shells

# As long as the name of a link may be.
NAME, HONEST, PAST = "$(touch${IFS}Z)", "abcdefghijklmno", "pqrstuvwxyzabcd"
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source {0}/reach.bash\n"),
    "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -u -D; fpath=({0} $fpath); autoload -Uz _reach; compdef _reach reach\n"),
    "fish": (["fish", "--no-config", "-i"], "source {0}/reach.fish\n"),
}


def type_in(command, begin, lines, directory, environment):
    """Types lines into an interactive shell; a line that ends with a tabulator is not sent, and deleted again. With each is a text that is
    offered, and waited for, or nothing."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(directory)
        os.execvpe(command[0], command, environment)
    output = b""

    def wait(seconds, awaited=None):
        nonlocal output
        begin, end = len(output), time.monotonic() + seconds
        while time.monotonic() < end and not (awaited and awaited.encode() in output[begin:]):
            if select.select([terminal], [], [], 0.1)[0]:
                with contextlib.suppress(OSError):
                    output += os.read(terminal, 1 << 16)
    try:
        wait(1)
        os.write(terminal, begin.encode())
        wait(1.5)
        for line, offered in lines:
            os.write(terminal, line.encode())
            wait(8 if offered else 0.7, offered)
            os.write(terminal, b"\x15")
        wait(0.3)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
    return output.decode(errors="replace")


def pass_on(path, real):
    """A daemon's socket that is A's: it passes on what the real one says, with another name of targets and probes."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    os.chmod(path, 0o777)
    listener.listen(16)

    def answer(connection):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as daemon:
            daemon.connect(str(real))
            while select.select([connection, daemon], [], [], 20)[0]:
                for source, sink in ((connection, daemon), (daemon, connection)):
                    if select.select([source], [], [], 0)[0]:
                        piece = source.recv(1 << 20)
                        if not piece:
                            return
                        sink.sendall(piece.replace(HONEST.encode(), NAME.encode()))
    while True:
        threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()


def forged(history, names):
    """The lines of a history with other names, with right sums."""
    lines = []
    for line in history.read_text().splitlines():
        for name, other in names.items():
            line = line.replace(name, other)
        entry = line.rpartition(',"crc":')[0] + "}"
        lines.append(f'{entry[:-1]},"crc":"{zlib.crc32(entry.encode()):08x}"}}\n')
    return "".join(lines)


@attack("names that a shell would run", f"a link is named {NAME}, and a socket and a history of A's offer targets and probes so named; root presses "
        f"TAB in {', '.join(SHELLS)}", "no shell runs the name, and each offers the names beside it that can be typed",
        configuration=f'[targets]\n{HONEST} = "{WELL}"\n[[probe]]\nname = "{HONEST}"\ntarget = "tcp://{WELL}:1"\n')
def shells(ground):
    ip("link", "add", NAME, "type", "veth", "peer", "name", "p9")
    ip("link", "set", NAME, "up")
    ground.start(ground.configuration_text)
    mine = ground.public / "reach.sock"
    ground.attack(pass_on, mine, ground.socket)
    past = ground.public / "past"
    past.mkdir()
    (past / "history.jsonl").write_text(forged(ground.state / "history.jsonl", {HONEST: PAST}) + forged(ground.state / "history.jsonl", {HONEST: NAME}))
    # At the same time, since each line takes a second.
    forks = {}
    for shell, (command, begin) in SHELLS.items():
        if not shutil.which(command[0]):
            continue
        place = ground.directory / f"shell-{shell}"
        place.mkdir()
        for script in (f"reach.{shell}", "_reach"):
            with open(place / script, "wb") as file:
                subprocess.run([ground.options.reach, "--generate-completion-script", shell], stdout=file, check=True)
        environment = {**os.environ, "PATH": f"{os.path.dirname(ground.options.reach)}:{os.environ['PATH']}", "HOME": str(place),
                       "REACH_SOCKET": str(ground.socket), "TERM": "xterm"}
        lines = [("reach status interface:\t\t", None), ("reach status \t\t", HONEST), (f"reach status interface:{NAME[:3]}\t\t", None),
                 ("reach queue add --when interface=\t\t", None), (f"reach --socket {mine} probes \t\t", None),
                 (f"reach status --socket {mine} \t\t", None), (f"reach wait --socket {mine} --until probe=\t\t", None),
                 (f"reach history --state {past} \t\t", PAST)]
        forks[shell] = Fork(type_in, command, begin.format(place), lines, place, environment)
        ground.processes.append(forks[shell])
    ran, missing = [], []
    for shell, fork in forks.items():
        output = fork.result(38)
        if any(path.name == "Z" for path in (ground.directory / f"shell-{shell}").rglob("*")):
            ran.append(shell)
        # Neither is typed.
        missing += [f"{name} in {shell}" for name in (HONEST, PAST) if name not in output]
    tried = list(forks)
    seen = f"typed in {', '.join(tried)}; run in {', '.join(ran) or 'none'}"
    if not tried:
        raise Skip("there is no shell of these")
    if ran:
        raise Failure(seen)
    if missing:
        raise Late(f"{seen}; not offered: {', '.join(missing)}")
    return seen


# ---------------------------------------------------------------- newer servers


@attack("servers newer than Debian's", "hypercorn with a current h2 answers B by HTTP/2 and HTTP/1.1: answers, uploads, redirects, interim answers",
        "every request is done, and B is served meanwhile", measures=True)
def newer_servers(ground):
    if importlib.util.find_spec("hypercorn") is None:
        raise Skip("Python has no hypercorn: pip install hypercorn")
    _, certificate, key = authority(ground, ["good.example.net"])
    name_server(ground, truth)
    (ground.directory / "served.py").write_text("""
async def application(scope, receive, send):
    if scope["type"] != "http":
        return
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    path = scope["path"]
    headers = [(b"location", b"/done")] if path == "/moved" else [(b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 307 if path == "/moved" else 200, "headers": headers})
    for _ in range(100 if path == "/long" else 1):
        await send({"type": "http.response.body", "body": b"x" * 10000, "more_body": True})
    await send({"type": "http.response.body", "body": b"%d" % len(body)})
""")
    with inside(ground.internet):
        server = subprocess.Popen(
            [sys.executable, "-m", "hypercorn", "--bind", f"{WELL}:8443", "--certfile", str(certificate), "--keyfile", str(key),
             "--workers", "1", "served:application"], cwd=ground.directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=open(ground.logs / "hypercorn", "wb"))
    ground.start()
    try:
        base = "https://good.example.net:8443"
        with ground.client(B) as b:
            numbers = [b.add(f"{base}/{path}", location=True, compressed=True) for path in ("done", "long", "moved") * 5]
            numbers += [b.add(f"{base}/post", method="POST", body=b"y" * 200_000) for _ in range(5)]
            ground.measure()
            states = [b.wait(number, within=10)["state"] for number in numbers]
    finally:
        # It would wait for the connections that the daemon keeps.
        server.kill()
        server.wait()
    seen = f"{states.count('done')} of {len(numbers)} done"
    if states.count("done") != len(numbers):
        raise Failure(f"{seen}: {sorted(set(states))}")
    return seen
