"""What users do to `reach-desktop` by the system bus, on dbus-daemon and on dbus-broker."""

import contextlib
import os
import shutil
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

from figures import memory_mib
from ground import A, B, Failure, Fork, Late, Skip, someone
from programs import PR_SET_PDEATHSIG, ROOT, libc
from table import attack

DESKTOP = 64005
NETWORK_MANAGER, BUS, PROPERTIES = "org.freedesktop.NetworkManager", "org.freedesktop.DBus", "org.freedesktop.DBus.Properties"
PLACE = "/org/freedesktop/NetworkManager"
CALL, RETURN, SIGNAL = 1, 2, 4
#: In MiB.
GROWTH = 32
#: What A calls by so many connections. A bus hands messages over in their order, so many more keep others waiting (SECURITY.md).
CONNECTIONS, CALLS = 10, 4000
#: In seconds, that B waits then.
PATIENCE = 5

#: As Debian's system bus has them.
RULES = """<policy context="default"><allow user="*"/><deny own="*"/><deny send_type="method_call"/>
<allow send_type="signal"/><allow send_requested_reply="true" send_type="method_return"/>
<allow send_requested_reply="true" send_type="error"/><allow receive_type="method_call"/>
<allow receive_type="method_return"/><allow receive_type="error"/><allow receive_type="signal"/>
<allow send_destination="org.freedesktop.DBus"/></policy>"""


# ---------------------------------------------------------------- messages of D-Bus


def text(value):
    return struct.pack("<I", len(value.encode())) + value.encode() + b"\0"


def texts(*values):
    body = b""
    for value in values:
        body += bytes(-len(body) % 4) + text(value)
    return body


def message(kind, serial, signature="", body=b"", flags=0, **fields):
    """path, interface, member and destination are fields."""
    codes = {"path": (1, "o"), "interface": (2, "s"), "member": (3, "s"), "destination": (6, "s"), "sender": (7, "s")}
    parts = [(codes[name][0], codes[name][1], text(value)) for name, value in fields.items()]
    if signature:
        parts.append((8, "g", bytes([len(signature)]) + signature.encode() + b"\0"))
    array = b""
    for code, letter, value in parts:
        array += bytes(-len(array) % 8) + bytes([code, 1]) + letter.encode() + b"\0" + value
    head = b"l" + bytes([kind, flags, 1]) + struct.pack("<III", len(body), serial, len(array)) + array
    return head + bytes(-len(head) % 8) + body


class Peer:
    """A connection to the bus; whoever makes it is who the bus sees."""

    def __init__(self, path, user):
        with someone(user):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(10)
            self.socket.connect(str(path))
            self.socket.sendall(b"\0AUTH EXTERNAL " + str(user).encode().hex().encode() + b"\r\nBEGIN\r\n")
        self.rest, self.serial = b"", 0
        while b"\r\n" not in self.rest:
            self.rest += self.socket.recv(4096)
        line, _, self.rest = self.rest.partition(b"\r\n")
        if not line.startswith(b"OK"):
            raise Failure(f"the bus says {line!r}")
        self.call(BUS, "/org/freedesktop/DBus", BUS, "Hello")

    def send(self, kind, signature="", body=b"", **fields):
        self.serial += 1
        self.socket.sendall(message(kind, self.serial, signature, body, **fields))

    def call(self, destination, path, interface, member, signature="", body=b""):
        """The type of the answer, and its body."""
        self.send(CALL, signature, body, destination=destination, path=path, interface=interface, member=member)
        while True:
            kind, reply_to, content = self.receive()
            if reply_to == self.serial:
                return kind, content

    def receive(self):
        self._take(16)
        length, _, array = struct.unpack_from("<III", self.rest, 4)
        start = (16 + array + 7) // 8 * 8
        self._take(start + length)
        head, body, self.rest = self.rest[:start], self.rest[start:start + length], self.rest[start + length:]
        place = head.find(b"\5\1u\0", 16)
        return head[1], struct.unpack_from("<I", head, place + 4)[0] if place >= 0 else None, body

    def _take(self, count):
        while len(self.rest) < count:
            piece = self.socket.recv(1 << 16)
            if not piece:
                raise Failure("the bus hung up")
            self.rest += piece

    def state(self):
        kind, body = self.call(NETWORK_MANAGER, PLACE, PROPERTIES, "Get", "ss", texts(NETWORK_MANAGER, "State"))
        return struct.unpack("<I", body[-4:])[0] if kind == RETURN else None


# ---------------------------------------------------------------- a bus


def configuration(ground, path):
    policy = (ROOT / "contrib/dbus/io.reach.Desktop.conf").read_text()
    own = policy.partition("<busconfig>")[2].replace('user="reach-desktop"', f'user="{DESKTOP}"')
    file = ground.directory / "bus.conf"
    file.write_text(f"""<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><listen>unix:path={path}</listen><auth>EXTERNAL</auth>{RULES}{own}""")
    return file


def run_daemon(file, path, log):
    os.execvp("dbus-daemon", ["dbus-daemon", f"--config-file={file}", "--nofork", "--nopidfile"])


def run_broker(file, path, log):
    """It takes its socket as systemd hands it over."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    os.chmod(path, 0o666)
    listener.listen(64)
    os.dup2(listener.fileno(), 3)
    # It logs to the journal, and ends without one.
    journal = Path("/run/systemd/journal")
    journal.mkdir(parents=True, exist_ok=True)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as attempt:
            attempt.connect(str(journal / "socket"))
    except OSError:
        # That of an earlier row has nobody who reads it.
        (journal / "socket").unlink(missing_ok=True)
        sink = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        sink.bind(str(journal / "socket"))
        os.set_inheritable(sink.fileno(), True)
    os.environ |= {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid()), "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={path}"}
    os.execvp("dbus-broker-launch", ["dbus-broker-launch", "--scope", "system", "--config-file", str(file)])


def begin(run, file, path, log):
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for number in (1, 2):
        os.dup2(out, number)
    run(file, path, log)


def desktop(ground, path):
    """reach-desktop, as its unit starts it."""
    program = ground.options.bin / "reach-desktop"
    if not program.exists():
        raise Skip("there is no reach-desktop")

    def prepare():
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with open(ground.logs / "reach-desktop", "ab") as log:
        return subprocess.Popen([program, "--socket", str(ground.socket)], user=DESKTOP, group=DESKTOP, extra_groups=[], stdin=subprocess.DEVNULL,
                                stdout=log, stderr=log, cwd="/", preexec_fn=prepare,
                                env={"PATH": "/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={path}"})


# ---------------------------------------------------------------- what A does


def forge(path, owner):
    """Signals as the bus, or NetworkManager's clients, send them; calls that would change something; bodies that are none."""
    peer = Peer(path, A)
    name = texts(NETWORK_MANAGER)
    for member, signature, body in (("NameLost", "s", name), ("NameAcquired", "s", name), ("NameOwnerChanged", "sss", texts(NETWORK_MANAGER, owner, ""))):
        peer.send(SIGNAL, signature, body, destination=owner, path="/org/freedesktop/DBus", interface=BUS, member=member)
        # As from the bus itself.
        peer.send(SIGNAL, signature, body, destination=owner, path="/org/freedesktop/DBus", interface=BUS, member=member, sender=BUS)
    peer.send(SIGNAL, "us", struct.pack("<I", 1) + texts("open"), destination=owner, path="/org/freedesktop/Notifications",
              interface="org.freedesktop.Notifications", member="ActionInvoked")
    peer.send(SIGNAL, "s", texts("Disconnected"), destination=owner, path="/org/freedesktop/DBus/Local", interface=f"{BUS}.Peer", member="Disconnected")
    kinds = []
    for interface, member, signature, body in (
            (NETWORK_MANAGER, "Enable", "b", bytes(4)), (NETWORK_MANAGER, "Sleep", "b", b"\1\0\0\0"),
            (PROPERTIES, "Set", "ssv", texts(NETWORK_MANAGER, "State") + b"\1u\0" + bytes(1) + struct.pack("<I", 20)),
            (PROPERTIES, "Get", "s", texts("x" * 100_000)), (PROPERTIES, "GetAll", "s", texts("")),
            (PROPERTIES, "Get", "ss", texts("\U0001f4a3" * 1000, "State")), (NETWORK_MANAGER, "GetDeviceByIpIface", "s", texts("a" * 60_000)),
            (NETWORK_MANAGER, "GetDeviceByIpIface", "s", texts("../../r0")), (f"{NETWORK_MANAGER}.Settings", "AddConnection", "a{sa{sv}}", bytes(8))):
        # The bus hangs up on what it takes for no message.
        with contextlib.suppress(Failure):
            kinds.append(None)
            kinds[-1] = Peer(path, A).call(NETWORK_MANAGER, PLACE, interface, member, signature, body)[0]
    wish = name + bytes(-len(name) % 4) + struct.pack("<I", 3)  # To replace its owner.
    kinds.append(Peer(path, A).call(BUS, "/org/freedesktop/DBus", BUS, "RequestName", "su", wish)[0])
    return kinds


def flood(path, count):
    """Calls whose answers nobody reads."""
    peer = Peer(path, A)
    peer.socket.settimeout(2)
    with contextlib.suppress(OSError):
        for _ in range(count):
            peer.send(CALL, "s", texts(NETWORK_MANAGER), destination=NETWORK_MANAGER, path=PLACE, interface=PROPERTIES, member="GetAll")
    time.sleep(600)


def row(program, run):
    @attack(f"forged signals on {program}", "A sends signals of the bus straight to reach-desktop, calls what would change something, with bodies that are "
            f"none, asks for its name, and calls {CONNECTIONS * CALLS:,} times without reading an answer; then the bus ends",
            f"reach-desktop is there, changes nothing, answers B within {PATIENCE} s, keeps its name, and ends in order with its bus")
    def play(ground):
        if not shutil.which(program):
            raise Skip(f"there is no {program}")
        # A bus asks for the groups of a user, and lets in none without an account.
        for file, line in (("/etc/passwd", "{0}:x:{1}:{1}::/:/bin/false\n"), ("/etc/group", "{0}:x:{1}:\n")):
            ground.bind(file, Path(file).read_text() + "".join(line.format(f"attack{user}", user) for user in (A, B, DESKTOP)))
        ground.start()
        path = ground.public / "bus"
        bus = Fork(begin, run, configuration(ground, path), path, ground.logs / "bus")
        ground.processes.append(bus)
        await_bus(path, ground.logs / "bus")
        served = desktop(ground, path)
        try:
            return judge(ground, bus, path, served)
        finally:
            if served.poll() is None:
                served.kill()
            served.wait()
            end(bus)


def await_bus(path, log):
    """Until it listens, as the user that asks."""
    deadline = time.monotonic() + 10
    while True:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as attempt:
            os.chmod(path, 0o666)
            return attempt.connect(str(path))
        if time.monotonic() > deadline:
            raise Late(f"there is no bus within 10 s: {log.read_text()[-200:]}")
        time.sleep(0.02)


def end(bus):
    """With what it started: dbus-broker outlives its launcher for as long as it has work."""
    own = []
    with contextlib.suppress(OSError):
        own = Path(f"/proc/{bus.pid}/task/{bus.pid}/children").read_text().split()
    bus.end()
    for process in own:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(process), signal.SIGKILL)


def judge(ground, bus, path, served):
    b, deadline = Peer(path, B), time.monotonic() + 10
    while (before := b.state()) is None:
        if time.monotonic() > deadline:
            said = "".join((ground.logs / name).read_text()[-200:] for name in ("reach-desktop", "bus"))
            raise Late(f"reach-desktop has no name within 10 s: {said}")
        time.sleep(0.05)
    _, body = b.call(BUS, "/org/freedesktop/DBus", BUS, "GetNameOwner", "s", texts(NETWORK_MANAGER))
    owner = body[4:-1].decode()
    kinds = Fork(forge, path, owner, user=None)
    ground.processes.append(kinds)
    kinds = kinds.result(20)
    # Two of A's calls read: GetAll of no interface, and a link's name.
    changed = [number for number in (0, 1, 2, 8, 9) if kinds[number] == RETURN]
    memory = memory_mib(served.pid)
    ground.processes += [Fork(flood, path, CALLS, aside=True) for _ in range(CONNECTIONS)]
    longest = 0
    for _ in range(60):
        began = time.monotonic()
        after = b.state()
        longest = max(longest, time.monotonic() - began)
        time.sleep(0.05)
    if served.poll() is not None:
        raise Failure(f"reach-desktop ended with {served.returncode}: {(ground.logs / 'reach-desktop').read_text()[-200:]}")
    grew = memory_mib(served.pid) - memory
    end(bus)
    try:
        code = served.wait(10)
    except subprocess.TimeoutExpired:
        raise Late("reach-desktop does not end within 10 s after its bus") from None
    seen = f"the state is {before}, then {after}; B waits at most {1000 * longest:.0f} ms; grew by {grew:.0f} MiB; of {len(kinds)} calls {len(changed)} " \
           f"that change something were accepted; it ends with {code} when the bus does"
    if changed or before != after or grew > GROWTH or code != 69:
        raise Failure(seen)
    if longest > PATIENCE:
        raise Late(seen)
    return seen


for name, function in (("dbus-daemon", run_daemon), ("dbus-broker", run_broker)):
    row(name, function)
