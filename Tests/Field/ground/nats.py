"""nats-server with the streams and keys of a fleet, a client of it, and agents."""

import base64
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import sys
from binascii import crc_hqx

from certificates import Authority
from programs import PATH, Program, output_of, wait_for


def nats_server():
    return shutil.which("nats-server", path=PATH)


def version():
    return re.search(r"\d+\.\d+\.\d+", output_of(nats_server(), "--version"))[0]


def why_not(programs, *names, needs_root=True):
    """What is missing here; `None` if nothing is."""
    if not nats_server():
        return "nats-server is not installed (apt-get install nats-server)"
    if not shutil.which("openssl"):
        return "openssl is not installed (apt-get install openssl)"
    if needs_root and os.geteuid() != 0:
        return "network namespaces need root: run it as root"
    for name in names:
        if not (programs / name).exists():
            return f"{programs / name} is not there: make build"
    return None


def begin(options, *names, needs_root=True):
    """Ends with 77 where a test of a fleet cannot run; else a signal ends it in order."""
    options.programs = options.programs.resolve()
    if reason := why_not(options.programs, *names, needs_root=needs_root):
        print(reason, file=sys.stderr)
        sys.exit(77)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def user_key(public):
    """The form of a user's public key of 32 bytes."""
    body = bytes([20 << 3]) + public
    return base64.b32encode(body + crc_hqx(body, 0).to_bytes(2, "little")).decode().rstrip("=")


def greets(address):
    """Whether a server answers there."""
    with contextlib.suppress(OSError), socket.create_connection(address, 1) as connection:
        connection.settimeout(1)
        return connection.recv(5) == b"INFO "
    return False


# ---------------------------------------------------------------- the server


class Engine:
    """A nats-server as an operator makes it: TLS, a key for each host with its rights, streams made by `reach-fleet setup`."""

    def __init__(self, directory, fleet, address, names, users=(), addresses=(), store_size="10GB"):
        """
        - names: The hosts.
        - users: Others who get keys: "reader", "operator", or another word, which may do everything.
        - addresses: Further addresses by which the server is reached.
        """
        self.directory, self.fleet, self.address, self.store_size = directory, fleet, address, store_size
        authority = Authority(directory)
        self.authority = authority.root
        self.certificate, self.key = authority.issue("server", [address[0], *addresses])
        self.url = "tls://%s:%d" % address
        self.keys = {name: output_of(fleet, "key", directory / f"{name}.nk").split()[0] for name in ["admin", *users, *names]}
        (directory / "hosts").write_text("".join(f"{name} {self.keys[name]} real\n" for name in names))
        self.write_configurations(users)
        self.program = None
        self.set_up()

    def set_up(self):
        """Makes the streams in an empty store."""
        self.start(is_open=True)
        output_of(self.fleet, "setup", "--server", "nats://%s:%d" % self.address, "--hosts", self.directory / "hosts")
        self.stop()

    def write_configurations(self, users):
        special = [word for user in users if user in ("reader", "operator") for word in (f"--{user}", self.keys[user])]
        text = output_of(
            self.fleet, "config", "--hosts", self.directory / "hosts", "--admin", self.keys["admin"], *special, "--listen",
            "%s:%d" % self.address, "--store", self.directory / "store", "--store-size", self.store_size,
            "--tls-certificate", self.certificate, "--tls-key", self.key, "--for", version())
        everything = "".join(f"{{ nkey: {self.keys[user]} }}\n" for user in users if user not in ("reader", "operator"))
        (self.directory / "nats.conf").write_text(text.replace("users: [", "users: [\n" + everything, 1))
        write_open(self.directory, self.address, ", max_file_store: " + re.search(r"max_file_store: (\S+)", text)[1])

    def access(self, user):
        """What an operator's command needs."""
        return ["--server", self.url, "--key-file", self.directory / f"{user}.nk", "--ca", self.authority]

    def start(self, is_open=False):
        """- is_open: Without TLS and keys: for the first setup, and for a reader that shares nothing with the agent."""
        if self.program is None or is_open:
            kills = self.program.kills if self.program else 0
            name = "open" if is_open else "nats"
            self.program = Program(self.directory / f"{name}.log", nats_server(), "-c", self.directory / f"{name}.conf")
            self.program.kills = kills
        self.program.start()
        wait_for(lambda: greets(self.address), "nats-server listens")

    def stop(self):
        if self.program is not None:
            self.program.stop()
        if self.program is not None and "open.conf" in self.program.arguments[-1]:
            self.program = None


def write_open(directory, address, more=""):
    """The configuration of a server that lets anybody in."""
    file = directory / "open.conf"
    file.write_text(f"""
        listen: "{address[0]}:{address[1]}"
        jetstream {{ store_dir: "{directory}/store"{more} }}
        accounts {{ REACH {{ jetstream: enabled, users: [ {{ user: anyone, password: anyone }} ] }} }}
        no_auth_user: anyone
        """)
    return file


# ---------------------------------------------------------------- a client


class Client:
    """Speaks NATS's protocol, without TLS unless `wrap` makes it of a connection that was greeted."""

    def __init__(self, address, wrap=None, **options):
        self.connection = socket.create_connection(address, timeout=30)
        if wrap:
            self.connection.recv(1 << 16)  # the server's greeting; TLS begins after it
            self.connection = wrap(self.connection)
        self.stream = self.connection.makefile("rwb")
        options = {"verbose": False, "headers": True, **options}
        self.stream.write(b"CONNECT %s\r\nSUB reply 1\r\n" % json.dumps(options).encode())

    def publish(self, subject, payload, reply=""):
        self.stream.write(b"PUB %s %s %d\r\n%s\r\n" % (subject.encode(), reply.encode(), len(payload), payload))

    def request(self, subject, payload):
        self.publish(subject, payload, "reply")
        self.stream.flush()
        while line := self.line():
            if line.startswith((b"MSG ", b"HMSG ")):
                size = int(line.split()[-1])
                return self.stream.read(size + 2)[:size]
        raise ConnectionError("the server hung up")

    def flush(self):
        """Until the server has read everything."""
        self.stream.write(b"PING\r\n")
        self.stream.flush()
        while not (line := self.line()).startswith(b"PONG"):
            if not line:
                raise ConnectionError("the server hung up")

    def line(self):
        line = self.stream.readline()
        if line.startswith(b"PING"):
            self.stream.write(b"PONG\r\n")
            self.stream.flush()
        if line.startswith(b"-ERR"):
            raise ConnectionError(line.decode().strip())
        return line

    def messages(self, stream, subject):
        """What a stream has: each message's number, headers and text."""
        number = 0
        while True:
            question = json.dumps({"seq": number + 1, "next_by_subj": subject}).encode()
            reply = json.loads(self.request(f"$JS.API.STREAM.MSG.GET.{stream}", question))
            if "error" in reply:
                return
            message = reply["message"]
            number = message["seq"]
            lines = base64.b64decode(message.get("hdrs", "")).decode().split("\r\n")[1:]
            headers = {name: value.strip() for name, _, value in (line.partition(":") for line in lines if ":" in line)}
            yield number, headers, base64.b64decode(message.get("data", ""))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()


# ---------------------------------------------------------------- an agent


class Agent(Program):
    """`reach-fleet agent` beside a daemon, with its files in the daemon's directory."""

    def __init__(self, engine, daemon, host, server, more="", credentials=None, **options):
        """- server: The address by which it reaches the engine."""
        self.directory = daemon.directory
        self.engine, self.host, self.more, self.credentials = engine, host, more, credentials or engine.directory / f"{host}.nk"
        self.configure(server)
        super().__init__(
            self.directory / "agent.log", engine.fleet, "agent", "--config", self.directory / "fleet.toml", "--socket",
            daemon.socket, "--runtime", self.directory, "--state", self.directory, **options)

    def configure(self, server, lease="10s"):
        (self.directory / "fleet.toml").write_text(f"""
            servers = ["tls://{server[0]}:{server[1]}"]
            host = "{self.host}"
            credentials = "{self.credentials}"
            ca = "{self.engine.authority}"
            lease = "{lease}"
            spread = "0s"
            {self.more}""")

    @property
    def report(self):
        """What it says of itself."""
        with contextlib.suppress(OSError, ValueError):
            return json.loads((self.directory / "self.json").read_text())
        return {}

    @property
    def state(self):
        return self.report.get("state", "starting")

    def has_sent_all(self):
        report = self.report
        return report.get("state") == "connected" and report.get("behind") == 0
