"""What surrounds the machine: a rogue router on its wire, a portal's API, a file system that fails, servers newer than Debian's,
and a shell that completes names."""

import contextlib
import importlib.util
import os
import pty
import random
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

from frames import endless_hello_requests, endless_key_updates
from ground import ADD_URL, B, DAEMON, WAITS, WELL, Failure, Fork, Late, Refused, Skip
from hostile import INTERIM, PORTAL, PORTAL_PAGE, authority, name_server, portal, truth
from measuring import inside, ip
from servers import repeats
from table import attack

# ---------------------------------------------------------------- a router that lies


def option(kind, body):
    """An option of Neighbor Discovery (RFC 4861, 4.6), filled up to 8 bytes."""
    body += bytes(-(len(body) + 2) % 8)
    return bytes([kind, (len(body) + 2) // 8]) + body


FOREVER = b"\xff\xff\xff\xff"
PREFIX = socket.inet_pton(socket.AF_INET6, "2001:db8:66::")
ADVERTISED = {
    "source address": option(1, b"\x02\0\0\0\0\x66"), "prefix": option(3, b"\x40\xc0" + FOREVER + FOREVER + bytes(4) + PREFIX),
    "MTU": option(5, bytes(2) + struct.pack(">I", 1280)), "home agent": option(8, bytes(2) + b"\xff\xff\xff\xff"),
    "route": option(24, b"\x00\x08" + FOREVER), "name servers": option(25, bytes(2) + FOREVER + PREFIX[:15] + b"\x35"),
    "search list": option(31, bytes(2) + FOREVER + b"\x07example\x03net\0"),
    "6LoWPAN context": option(34, b"\x40\x1f\0\0\xff\xff" + PREFIX), "portal": option(37, b"https://203.0.113.99:8443/api\0"),
    "provisioning domain": option(21, b"\x80\x00\x00\x01\x03pvd\x07example\x03net\0"),
    "NAT64": option(38, b"\xff\xf8" + PREFIX[:12]), "encrypted name server": option(144, b"\0\1\xff\xff\xff\xff\0\x05\x03dns\0\0\0\0\0"),
    "unknown": option(253, b"x" * 30), "portal that is none": option(37, b"javascript:alert(1)//\x1b]0;x\x07"),
    "portal without an end": option(37, b"https://" + b"a" * 1000),
}


def advertise(link, seconds, seed):
    """Advertisements with every option, and mutations of them: lengths of 0 and beyond the end, bytes that are wrong."""
    chance = random.Random(seed)
    router = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    router.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
    router.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, socket.if_nametoindex(link))
    sent, end = 0, time.monotonic() + seconds
    options = list(ADVERTISED.values())
    while time.monotonic() < end:
        lifetime = chance.choice([0, 1, 1800, 65535])
        head = bytes([134, 0, 0, 0, 64, chance.choice([0, 0x40, 0xc0, 0x08, 0x18])]) + struct.pack(">HII", lifetime, 0, 0)
        body = bytearray(b"".join(chance.sample(options, chance.randrange(1, len(options) + 1))))
        if chance.random() < 0.5:
            for _ in range(chance.randrange(1, 4)):
                body[chance.randrange(len(body))] = chance.choice([0, 1, 255, chance.randrange(256)])
        if chance.random() < 0.2:
            body = body[:chance.randrange(len(body))]
        with contextlib.suppress(OSError):
            router.sendto(head + bytes(body[:1300]), ("ff02::1", 0))
            sent += 1
        time.sleep(0.001)
    return sent


@attack("a rogue router's advertisements", f"a router on the wire advertises {', '.join(ADVERTISED)}, whole and broken, a thousand a second",
        "the daemon lives, B is served meanwhile, and the portal's page is none but https", measures=True)
def rogue_router(ground):
    with inside(ground.network.far):
        Path("/proc/sys/net/ipv6/conf/p0/disable_ipv6").write_text("0")
    Path("/proc/sys/net/ipv6/conf/r0/disable_ipv6").write_text("0")
    for key, value in (("accept_ra", "2"), ("accept_ra_rt_info_max_plen", "64")):
        with contextlib.suppress(OSError):
            Path(f"/proc/sys/net/ipv6/conf/r0/{key}").write_text(value)
    ground.start()
    time.sleep(1.5)  # Until the addresses of both ends may be used.

    def play():
        with inside(ground.network.far):
            return advertise("p0", 4, 31)
    router = Fork(play, aside=True)
    ground.processes.append(router)
    time.sleep(1)
    ground.measure(2)
    sent = router.result(20)
    ground.must_live()
    with ground.client(B) as b:
        status = b.call("Monitor.Status")["status"]
    seen = f"{sent} advertisements; the target is {status['status']}, the portal {status.get('portal')}"
    if status.get("portal") and not status["portal"].startswith("https://"):
        raise Failure(seen)
    if sent < 200:
        raise Late(seen)
    return seen


LEASE = {
    "114": "https://203.0.113.99:8443/" + "a" * 200, "15": "exa'mple.$(id).net", "12": "a;touch /run/attack/Z", "252": "http://x/`id`.pac",
    "43": "ANDROID_METERED\x01\xff", "26": "68", "6": WELL, "119": "a.example,b..example", "121": "0.0.0.0/1,192.0.2.1",
    "249": "128.0.0.0/1,192.0.2.1", "224": "x" * 250,
}


@attack("a rogue DHCP server", f"dnsmasq answers dhclient with odd values of the options {', '.join(LEASE)}, and a lease of two minutes",
        "the daemon lives and reads what the lease says, and B is served meanwhile", measures=True)
def rogue_dhcp(ground):
    if not shutil.which("dnsmasq") or not shutil.which("dhclient"):
        raise Skip("there is no dnsmasq, or no dhclient")
    leases = Path("/var/lib/dhcp")
    if not leases.is_dir():
        raise Skip("dhclient has no directory for leases")
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", leases], check=True)
    ground.mounted.append(str(leases))
    options = [f"--dhcp-option-force={number},{value}" for number, value in LEASE.items()]
    with inside(ground.network.far):
        server = subprocess.Popen(
            ["dnsmasq", "--no-daemon", "--conf-file=/dev/null", "--port=0", "--interface=p0", "--dhcp-range=192.0.2.100,192.0.2.120,2m",
             "--dhcp-authoritative", f"--dhcp-leasefile={ground.directory}/dnsmasq.leases", "--user=root", "--bind-interfaces", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(ground.logs / "dnsmasq", "wb"))
    ground.start()
    try:
        settings = ground.directory / "dhclient.conf"
        settings.write_text("option portal code 114 = text;\noption pac code 252 = text;\n"
                            "request subnet-mask, routers, domain-name, domain-name-servers, host-name, interface-mtu, portal, pac,\n"
                            "  vendor-encapsulated-options, domain-search;\n")
        script = ground.directory / "dhclient-script"
        script.write_text("#!/bin/sh\n[ -z \"$new_ip_address\" ] || ip address replace \"$new_ip_address/24\" dev r0\nexit 0\n")
        script.chmod(0o755)
        asked = subprocess.run(["timeout", "15", "dhclient", "-1", "-cf", str(settings), "-sf", str(script), "-lf", str(leases / "dhclient.r0.leases"), "-pf",
                                str(ground.directory / "dhclient.pid"), "r0"], capture_output=True, text=True, check=False)
        ground.measure(1.5)
        ground.must_live()
        text = (leases / "dhclient.r0.leases").read_text(errors="replace") if (leases / "dhclient.r0.leases").exists() else ""
        with contextlib.suppress(OSError, ValueError):
            os.kill(int((ground.directory / "dhclient.pid").read_text()), signal.SIGTERM)
    finally:
        server.terminate()
        server.wait(5)
    if "lease {" not in text:
        raise Skip(f"dhclient got no lease: {asked.stderr.strip()[-120:]}")
    with ground.client(B) as b:
        status = b.call("Monitor.Status")["status"]
    if Path("/run/attack/Z").exists():
        raise Failure("a name of the lease was run")
    return f"a lease of {text.count('option ')} options; the target is {status['status']}, on {status.get('interface')}"


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
    """Types lines into an interactive shell; a line that ends with a tabulator is not sent, and deleted again."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(directory)
        os.execvpe(command[0], command, environment)
    output = b""

    def wait(seconds):
        nonlocal output
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                with contextlib.suppress(OSError):
                    output += os.read(terminal, 1 << 16)
    try:
        wait(1)
        os.write(terminal, begin.encode())
        wait(1.5)
        for line in lines:
            os.write(terminal, line.encode())
            wait(0.7)
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


def forged(history, name):
    """The lines of a history about a target of another name, with right sums."""
    lines = []
    for line in history.read_text().splitlines():
        entry = line.replace(HONEST, name).rpartition(',"crc":')[0] + "}"
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
    (past / "history.jsonl").write_text(forged(ground.state / "history.jsonl", PAST) + forged(ground.state / "history.jsonl", NAME))
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
        lines = ["reach status interface:\t\t", "reach status \t\t", f"reach status interface:{NAME[:3]}\t\t",
                 "reach queue add --when interface=\t\t", f"reach --socket {mine} probes \t\t", f"reach status --socket {mine} \t\t",
                 f"reach wait --socket {mine} --until probe=\t\t", f"reach history --state {past} \t\t"]
        forks[shell] = Fork(type_in, command, begin.format(place), lines, place, environment)
        ground.processes.append(forks[shell])
    ran, missing = [], []
    for shell, fork in forks.items():
        output = fork.result(30)
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
    with inside(ground.network.far):
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
