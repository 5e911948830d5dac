"""The ground of an attack: a network, `reachd` under its own user, two users who do not trust each other, and how long the
second of them waits meanwhile."""

import contextlib
import encodings.idna  # noqa: F401: create_connection needs it, and other users may not be able to read Python's library
import json
import os
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from certificates import Authority
from figures import cpu_ns, memory_mib, quantile
from namespaces import LINK, bind, inside, ip, network
from programs import PR_SET_PDEATHSIG, ROOT, Failure, libc
from reachd import Client, Refused
from servers import Journal, serve

# Users without accounts, since the kernel needs only numbers.
DAEMON, A, B, C = 64001, 64002, 64003, 64004
GROUP = 64010
WELL, NAMES = "198.51.100.80", "198.51.100.53"
# A neighbour that does not exist: no one answers, and no error comes back.
BLACK_HOLE = "192.0.2.66"
PR_SET_NO_NEW_PRIVS = 38
SYSTEM = ROOT / "contrib/systemd/reachd.service"

# A call is due every 20 ms.
GRID = 0.02
# In seconds: a call that is not answered after this long counts as this long.
PATIENCE = 4.0
# Five times idle, and never less than this: with every processor busy the kernel lets a process wait for a few slices of
# 3 ms each before it runs, and Python's own collection of garbage takes as much.
FLOOR = 0.025

# A request that waits for a modem, which does not exist.
ADD_URL, WAITS = f"http://{WELL}/waits", {"when": "wwan"}
ADD = {"url": ADD_URL, **WAITS}


class Late(Failure):
    """It took too long. A slow machine may be the reason: the attack is tried once more."""


class Skip(Exception):
    """It cannot be tried here."""


# ---------------------------------------------------------------- processes of ours


def processors():
    return sorted(os.sched_getaffinity(0))


@contextlib.contextmanager
def someone(user, groups=(), group=None):
    """Meanwhile this process connects and makes files as another user. It has one thread, since the kernel keeps the user of each thread."""
    os.setgroups(list(groups))
    os.setegid(user if group is None else group)
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups([])


def become(user, groups=(), group=None):
    """Becomes another user for good."""
    os.setgroups(list(groups))
    os.setresgid(*[user if group is None else group] * 3)
    os.setresuid(user, user, user)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Fork:
    """A function in a process of its own; its result comes back by a pipe."""

    def __init__(self, function, *arguments, user=None, groups=(), aside=False):
        readable, writable = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                os.close(readable)
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
                if aside:  # What is measured is the daemon, and not who gets a processor.
                    os.sched_setaffinity(0, {processors()[-1]})
                if user is not None:
                    become(user, groups)
                result = function(*arguments)
                with os.fdopen(writable, "w") as pipe:
                    json.dump(result, pipe)
                code = 0
            except BaseException as error:  # noqa: BLE001: the parent has to hear of it
                with contextlib.suppress(OSError):
                    os.write(writable, json.dumps({"failed": f"{type(error).__name__}: {error}"}).encode())
            finally:
                os._exit(code)
        os.close(writable)
        self.pipe = readable
        self.is_over = False

    def result(self, within=60):
        """What it returned."""
        text, deadline = b"", time.monotonic() + within
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.pipe], [], [], left)[0]:
                self.end()
                raise Late(f"a helper is not done within {within} s")
            piece = os.read(self.pipe, 1 << 16)
            if not piece:
                break
            text += piece
        self.end()
        value = json.loads(text) if text else None
        if isinstance(value, dict) and set(value) == {"failed"}:
            raise Failure(value["failed"])
        return value

    def end(self):
        if self.is_over:
            return
        self.is_over = True
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.pipe)


# ---------------------------------------------------------------- many calls


def add_many(path, urls, repetitions=1, **parameters):
    """Adds requests by one connection, many calls at a time. Returns how many were accepted."""
    calls = [{"method": "io.reach.Queue.Add", "parameters": {"url": url, **parameters}}
             for _ in range(repetitions) for url in urls]
    taken = 0
    with Client(path, 60) as client:
        for begin in range(0, len(calls), 32):
            portion = calls[begin:begin + 32]
            client.socket.sendall(b"".join(json.dumps(call).encode() + b"\0" for call in portion))
            for _ in portion:
                with contextlib.suppress(Refused):
                    client.receive()
                    taken += 1
    return taken


# ---------------------------------------------------------------- how long B waits


def call_on_a_grid(path, method, parameters, seconds):
    """How long each of many calls took, from when it was due: a stall counts against every call that it delays."""
    frame = json.dumps({"method": f"io.reach.{method}", "parameters": parameters}).encode() + b"\0"
    began = time.monotonic()
    waited, served, refused = [], [], ""

    def overdue():
        now = time.monotonic()
        return [max(now - began - index * GRID, GRID) for index in range(len(waited), int(seconds / GRID))]

    try:
        client = Client(path, PATIENCE)
        for index in range(int(seconds / GRID)):
            due = began + index * GRID
            pause = due - time.monotonic()
            if pause > 0:
                time.sleep(pause)
            sent = time.monotonic()
            client.socket.sendall(frame)
            try:
                client.receive()
            except Refused as error:
                refused = str(error)
            now = time.monotonic()
            waited.append(now - due)
            served.append(now - sent)
            if time.monotonic() > began + seconds + PATIENCE:
                break
    except (OSError, Failure):
        pass
    if len(waited) < int(seconds / GRID) and not refused:
        # What was not answered counts as well.
        served.append(PATIENCE)
    return {"waited": waited + overdue(), "served": served, "refused": refused}


class Latency:
    """Of B's status, and of B's adding a request, in seconds."""

    def __init__(self, samples, may_refuse=False):
        self.refused = "" if may_refuse else ", ".join(filter(None, (sample["refused"] for sample in samples.values())))
        self.p50 = {key: quantile(sample["waited"], 0.5) for key, sample in samples.items()}
        self.p99 = {key: quantile(sample["waited"], 0.99) for key, sample in samples.items()}
        # Counted from the sending: on a machine that is too slow for the grid, waits add up, and ratios mean nothing.
        self.served = {key: quantile(sample["served"], 0.99) for key, sample in samples.items()}
        self.longest = {key: max(sample["served"], default=PATIENCE) for key, sample in samples.items()}

    def within(self, idle):
        """Whether it is at most five times one of these, or the least that is judged."""
        return all(self.p99[key] <= max(FLOOR, *(5 * each.p99[key] for each in idle)) for key in self.p99)

    def is_served_as(self, alongside, share):
        """Whether each call alone takes at most five times as long as those of an idle daemon at the same time; of a busy
        daemon, which asks for a processor all the time, without the share of the time in which it got none."""
        return all(self.served[key] * share <= max(FLOOR, 5 * alongside.served[key]) for key in self.served)

    def text(self):
        return ", ".join(f"{key} {1000 * self.p50[key]:.1f}/{1000 * self.p99[key]:.1f}" for key in ("status", "add"))


# ---------------------------------------------------------------- the daemon


def unit(key, default):
    found = re.search(rf"^{key}=(.*)$", SYSTEM.read_text(), re.M)
    return found[1] if found else default


class Ground:
    """One attack's network, directories, daemon, servers and users; all gone at its end."""

    number = 0

    def __init__(self, options, measures=False, alongside=False):
        """`alongside`: also measures an idle daemon at the same time, which shows the effect of the machine's own load."""
        self.options = options
        self.measures = measures
        self.alongside = alongside
        Ground.number += 1
        self.directory = Path(f"/run/attack/{Ground.number}")
        self.processes = []
        self.daemon = None
        # Before the attack.
        self.idle = None
        # Of the idle daemon, during the attack.
        self.idle_beside = None
        self.idle_daemon = None
        # How much of the processor time that the daemon asked for it got meanwhile.
        self.share = 1.0
        self.latency = None
        self.configuration_text = ""
        self.environment = {}
        # A file descriptor for the daemon's standard error, if not a file for its log.
        self.errors = None
        self.daemon_prefix = []
        self.daemon_limits = []
        self.mounted = []
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        self.directory.mkdir()
        self.directory.chmod(0o755)
        self.state = self._directory("state", int(unit("StateDirectoryMode", "0755"), 8), DAEMON)
        self.runtime = self._directory("run", int(unit("RuntimeDirectoryMode", "0755"), 8), DAEMON)
        self.etc = self._directory("etc", int(unit("ConfigurationDirectoryMode", "0755"), 8), 0)
        # As /tmp is.
        self.public = self._directory("public", 0o1777, 0)
        self.logs = self._directory("logs", 0o755, 0)
        self.socket = self.runtime / "reach.sock"
        self.log = self.logs / "reachd.log"
        # A machine with one link, and behind it an Internet in which every address of the documentation's answers.
        self.internet = self.stack.enter_context(network(True, is_quiet=True, disable_ipv6=1))
        with inside(self.internet):
            for prefix in ("198.51.100.0/24", "203.0.113.0/24"):
                ip("route", "add", "local", prefix, "dev", "lo")
        ip("neighbour", "replace", BLACK_HOLE, "lladdr", "02:00:00:00:00:66", "dev", LINK, "nud", "permanent")
        self.bind("/etc/resolv.conf", f"nameserver {NAMES}\noptions timeout:2 attempts:1\n")
        self.bind("/etc/hosts", "127.0.0.1 localhost\n")
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.end()
        for daemon in (self.daemon, self.idle_daemon):
            if daemon and daemon.poll() is None:
                daemon.kill()
                daemon.wait()
        for place in reversed(self.mounted):
            subprocess.run(["umount", "-l", place], check=False)
        self.stack.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _directory(self, name, mode, owner):
        path = self.directory / name
        path.mkdir()
        os.chown(path, owner, owner)
        path.chmod(mode)
        return path

    def bind(self, path, content):
        """Puts a file over another, for this process and those that it starts."""
        place = bind(path, content, self.directory)
        self.mounted.append(os.path.realpath(path))
        return place

    def trusted_authority(self):
        """One that the daemon trusts, and nobody else beside it."""
        if not shutil.which("openssl"):
            raise Skip("there is no openssl")
        made = Authority(self.directory)
        for bundle in ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"):
            if os.path.exists(bundle):
                self.bind(bundle, made.root.read_text())
                return made
        raise Skip("the machine has no bundle of certificates")

    def mount(self, *arguments):
        subprocess.run(["mount", *map(str, arguments)], check=True)
        self.mounted.append(str(arguments[-1]))

    # -------- the daemon

    def start_with(self, newer, older):
        """Starts with this configuration; a daemon that does not know its keys, with the other."""
        try:
            self.start(newer)
        except Failure:
            if self.daemon.poll() != 78:
                raise
            self.start(older)

    def start(self, configuration=None, answers=True):
        """Starts the daemon as the unit does: its user, its permissions, its descriptors, no privilege."""
        if configuration is not None:
            self.configuration_text = configuration
        file = self.etc / "reach.toml"
        file.write_text(self.configuration_text)
        file.chmod(0o644)
        # systemd makes the state directory's mode right at every start.
        environment = {
            "PATH": "/usr/bin:/bin", "STATE_DIRECTORY": str(self.state), "RUNTIME_DIRECTORY": str(self.runtime),
            "CONFIGURATION_DIRECTORY": str(self.etc), **self.environment}
        if self.options.libraries:
            environment["LD_LIBRARY_PATH"] = self.options.libraries

        def prepare():
            libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            for what, value in [(resource.RLIMIT_NOFILE, int(unit("LimitNOFILE", "8192"))), (resource.RLIMIT_CORE, 0),
                                *self.daemon_limits]:
                resource.setrlimit(what, (value, value))

        with open(self.log, "ab") as log:
            self.daemon = subprocess.Popen(
                [*self.daemon_prefix, self.options.reachd, "--config", str(file), "--socket", str(self.socket), "--state",
                 str(self.state)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log if self.errors is None else self.errors, env=environment,
                preexec_fn=prepare,
                user=DAEMON, group=DAEMON, extra_groups=[], umask=int(unit("UMask", "0022"), 8), cwd="/")
        if answers:
            self.await_answer()
        if answers and self.measures and self.idle is None:
            if self.alongside:
                self._start_idle_daemon()
            self.idle = self._latency(self.socket, 0.6)

    def _start_idle_daemon(self):
        """A daemon that no one attacks."""
        place = self._directory("idle", 0o755, DAEMON)
        (self.etc / "idle.toml").write_text("")
        self.idle_socket = place / "reach.sock"
        with open(self.logs / "idle.log", "ab") as log:
            self.idle_daemon = subprocess.Popen(
                [self.options.reachd, "--config", str(self.etc / "idle.toml"), "--socket", str(self.idle_socket), "--state",
                 str(place / "state")],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, user=DAEMON, group=DAEMON, extra_groups=[],
                cwd="/", preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL), env={"PATH": "/usr/bin:/bin"})
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, Failure), someone(B), Client(self.idle_socket, 2) as client:
                client.call("Monitor.Status")
                return
            time.sleep(0.01)
        raise Late("the idle daemon does not answer within 10 s")

    def await_answer(self, within=10):
        deadline = time.monotonic() + within
        while True:
            with contextlib.suppress(OSError, Failure), someone(B), Client(self.socket, 2) as client:
                client.call("Monitor.Status")
                return
            if self.daemon.poll() is not None:
                raise Failure(f"reachd ended with {self.ending()}: {self.last_lines()}")
            if time.monotonic() > deadline:
                raise Late(f"reachd does not answer within {within} s: {self.last_lines()}")
            time.sleep(0.01)

    def last_lines(self, count=2):
        return " / ".join(self.log.read_text(errors="replace").splitlines()[-count:])[-300:]

    def ending(self):
        code = self.daemon.poll()
        return f"signal {-code} ({signal.Signals(-code).name})" if code is not None and code < 0 else f"{code}"

    def stop(self, number=signal.SIGTERM):
        self.daemon.send_signal(number)
        return self.daemon.wait(10)

    def kill(self):
        return self.stop(signal.SIGKILL)

    def must_live(self):
        if self.daemon.poll() is not None:
            raise Failure(f"reachd ended with {self.ending()}: {self.last_lines()}")

    def rss(self):
        """In MiB."""
        return self._status("VmRSS")

    def highest_rss(self):
        return self._status("VmHWM")

    def size(self):
        return self._status("VmSize")

    def _status(self, key):
        self.must_live()
        return memory_mib(self.daemon.pid, key)

    def processor_time(self):
        return cpu_ns(self.daemon) / 1e9

    def spool_bytes(self):
        """In MiB, all that the queue keeps."""
        return sum(path.stat().st_size for path in (self.state / "queue").rglob("*") if path.is_file()) / (1 << 20)

    # -------- users

    def client(self, user, groups=(), group=None, patience=PATIENCE):
        with someone(user, groups, group):
            return Client(self.socket, patience)

    def reach(self, user, *arguments, within=20, **options):
        """Runs the command as a user."""
        return subprocess.run(
            [self.options.reach, *map(str, arguments)], user=user, group=user, extra_groups=[], text=True, cwd="/",
            capture_output=True, timeout=within, env={"PATH": "/usr/bin:/bin", "REACH_SOCKET": str(self.socket)},
            stdin=subprocess.DEVNULL, **options)

    def attack(self, function, *arguments, user=A, copies=1):
        """Runs something as A until the end of the row, or until it is done."""
        forks = [Fork(function, *arguments, user=user, aside=True) for _ in range(copies)]
        self.processes += forks
        return forks[0] if copies == 1 else forks

    # -------- servers

    def server(self, handle, address=WELL, port=80, backlog=256, context=None):
        """A server in the Internet, in a process of its own; what it writes down can be read."""
        with inside(self.internet):
            listener = socket.create_server((address, port), backlog=backlog)
        journal = Journal(self.directory / f"journal-{len(self.processes)}")
        self.processes.append(Fork(serve, listener, handle, journal, context, aside=True))
        listener.close()
        return journal

    def far(self, function, *arguments):
        """Runs something in the Internet."""
        with inside(self.internet):
            fork = Fork(function, *arguments, aside=True)
        self.processes.append(fork)
        return fork

    # -------- measuring

    def measure(self, seconds=1.5, may_refuse=False):
        """B's latency now; a refusal is an answer too, where it may be refused."""
        finish = self._begin_latency(self.idle_socket, seconds) if self.idle_daemon else None
        before = self._schedule()
        self.latency = self._latency(self.socket, seconds, may_refuse)
        ran, waited = (after - before for after, before in zip(self._schedule(), before))
        self.share = ran / max(1, ran + waited)
        self.idle_beside = finish and finish()
        return self.latency

    def waited(self):
        """For how many seconds the daemon's loop has waited for a processor since its start."""
        return self._of_task(self.daemon.pid)[1] / 1e9

    def _schedule(self):
        """How long all threads of the daemon have run, and have waited for a processor, in nanoseconds."""
        tasks = [self._of_task(name) for name in os.listdir(f"/proc/{self.daemon.pid}/task")]
        return [sum(times) for times in zip(*tasks)]

    def _of_task(self, name):
        with contextlib.suppress(OSError, ValueError):
            return [int(word) for word in Path(f"/proc/{self.daemon.pid}/task/{name}/schedstat").read_text().split()[:2]]
        return [0, 0]

    def is_slow(self):
        """Whether B waited longer than is right."""
        if self.idle_beside and self.latency.is_served_as(self.idle_beside, self.share):
            return False
        return not self.latency.within([self.options.idle, *filter(None, [self.idle, self.idle_beside])])

    def _latency(self, path, seconds, may_refuse=False):
        return self._begin_latency(path, seconds, may_refuse)()

    @staticmethod
    def _begin_latency(path, seconds, may_refuse=False):
        calls = {"status": ("Monitor.Status", {}), "add": ("Queue.Add", ADD)}
        forks = {key: Fork(call_on_a_grid, path, method, parameters, seconds, user=B)
                 for key, (method, parameters) in calls.items()}
        return lambda: Latency({key: fork.result(seconds + 3 * PATIENCE) for key, fork in forks.items()}, may_refuse)
