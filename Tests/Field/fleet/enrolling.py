"""For Tests/Field/fleet/scale: what a new and a stolen host cost, with a list of keys in the server's configuration and with tokens.

Some hosts are connected. Measured are the time until the new host gets in, or the stolen one is cut off, the bytes that the operator moves
to the server, the server's most memory meanwhile, and how many of the other hosts lose their connection.
"""

import base64
import contextlib
import json
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from figures import memory_mib
from nats import user_key
from programs import output_of, wait_for

CONNECTED = 20


class Host:
    """A connection as a host's, by the key and perhaps the token in a file of `reach-fleet`."""

    def __init__(self, port, file):
        text = Path(file).read_text()
        seed = re.search(r"^SU[A-Z2-7]{56}$", text, re.M)[0]
        token = re.search(r"^eyJ\S+$", text, re.M)
        self.is_open = False
        self.socket = socket.create_connection(("127.0.0.1", port), 30)
        self.stream = self.socket.makefile("rwb")
        nonce = json.loads(self.stream.readline().split(b" ", 1)[1])["nonce"]
        options = {"verbose": False, "lang": "python", "version": "1", "sig": signature(seed, nonce)}
        options |= {"jwt": token[0]} if token else {"nkey": public_key(seed)}
        self.stream.write(b"CONNECT " + json.dumps(options).encode() + b"\r\nPING\r\n")
        self.stream.flush()
        line = self.stream.readline()
        while line.startswith(b"INFO"):
            line = self.stream.readline()
        if not line.startswith(b"PONG"):
            raise ConnectionRefusedError(line.decode())
        self.is_open, self.ended = True, None
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        with contextlib.suppress(OSError, ValueError):
            while line := self.stream.readline():
                if line.startswith(b"PING"):
                    self.stream.write(b"PONG\r\n")
                    self.stream.flush()
        self.is_open, self.ended = False, time.monotonic()

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)


def raw(seed):
    """The 32 bytes of a seed."""
    return base64.b32decode(seed + "=" * (-len(seed) % 8))[2:34]


def private_key(seed, file):
    file.write(bytes.fromhex("302e020100300506032b657004220420") + raw(seed))
    file.flush()


def signature(seed, text):
    with tempfile.NamedTemporaryFile() as key, tempfile.NamedTemporaryFile() as message:
        private_key(seed, key)
        message.write(text.encode())
        message.flush()
        done = subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-keyform", "DER", "-inkey", key.name, "-in", message.name],
                              capture_output=True, check=True)
    return base64.urlsafe_b64encode(done.stdout).decode().rstrip("=")


def public_key(seed):
    with tempfile.NamedTemporaryFile() as key:
        private_key(seed, key)
        done = subprocess.run(["openssl", "pkey", "-inform", "DER", "-in", key.name, "-pubout", "-outform", "DER"],
                              capture_output=True, check=True)
    return user_key(done.stdout[-32:])


class Memory:
    """The most memory of a process while something happens, in MiB."""

    def __init__(self, pid):
        self.pid, self.most, self.ends = pid, 0, threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()
        return self

    def follow(self):
        while True:
            self.most = max(self.most, round(memory_mib(self.pid)))
            if self.ends.wait(0.02):
                return

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()


def opens(port, file):
    """Whether a host gets in."""
    try:
        Host(port, file).close()
        return True
    except (OSError, ConnectionRefusedError):
        return False


def measured(fleet, hosts, act, is_done, stolen=None):
    """What `act` costs until `is_done`. It returns how many bytes went to the server."""
    with Memory(fleet.program.process.pid) as memory:
        began = time.monotonic()
        count = act()
        wait_for(is_done, "the server knows it", 300)
        took = time.monotonic() - began
    time.sleep(1)
    others = [host for host in hosts if host is not stolen]
    return {"s": round(took, 2), "mib": memory.most, "bytes": count, "cut": sum(not host.is_open for host in others)}


def with_list(fleet):
    """A new and a stolen host where each host is a line of the configuration."""
    hosts = [Host(fleet.port, file) for file in fleet.real_files]
    lines = (fleet.directory / "hosts").read_text().splitlines(keepends=True)
    new = fleet.directory / "new.nk"
    key = output_of(fleet.fleet, "key", new).split()[0]

    def reload(list_of_hosts):
        (fleet.directory / "hosts").write_text("".join(list_of_hosts))
        text = fleet.print_configuration()
        fleet.configuration.write_text(text)
        fleet.program.process.send_signal(signal.SIGHUP)
        return len(text)

    figures = {"list: a new host": measured(
        fleet, hosts, lambda: reload([*lines, f"new {key} tills\n"]), lambda: opens(fleet.port, new))}
    stolen = hosts[0]
    figures["list: a stolen host"] = measured(
        fleet, hosts, lambda: reload(lines[1:]), lambda: not stolen.is_open, stolen)
    for host in hosts:
        host.close()
    return figures


def with_tokens(fleet, revoked):
    """The same where hosts have tokens, and where so many hosts were revoked before."""
    directory = fleet.directory
    accounts = directory / "accounts"
    text = output_of(fleet.fleet, "config", "--accounts", accounts, "--listen", f"127.0.0.1:{fleet.port}", "--store", directory / "store",
               "--for", fleet.version)
    # The server keeps streams in a folder with the account's name.
    streams = directory / "store" / "jetstream"
    (streams / "REACH").rename(streams / re.search(r"# REACH\s+(A\w+)", text)[1])
    configuration = directory / "tokens.conf"
    configuration.write_text(text)
    figures = {"tokens: the configuration": {"bytes": len(text)}, "tokens: a start with the store": fleet.start(configuration)}

    def sign(name, file, *options):
        token = directory / "token"
        token.write_text(output_of(fleet.fleet, "sign", "--accounts", accounts, name, output_of(fleet.fleet, "key", file).split()[0], *options))
        output_of(fleet.fleet, "key", file, "--token", token)
        return len(token.read_text())

    sign("admin", directory / "admin.nk", "--role", "admin")
    files = [directory / f"token-{number}.nk" for number in range(CONNECTED)]
    for number, file in enumerate(files):
        sign(f"host-{number:06}", file)
    hosts = [Host(fleet.port, file) for file in files]
    answering = subprocess.Popen(
        [fleet.fleet, "enroll", "--accounts", accounts, "--serve", *fleet.access("admin")], stdout=subprocess.PIPE, text=True)
    try:
        answering.stdout.readline()
        ticket, new = directory / "ticket", directory / "joined.nk"
        ticket.write_text(output_of(fleet.fleet, "enroll", "--accounts", accounts, "new-1"))

        def join():
            output_of(fleet.fleet, "join", "--token", ticket, "--server", f"nats://127.0.0.1:{fleet.port}", new)
            return ticket.stat().st_size

        figures["tokens: a new host"] = measured(fleet, hosts, join, lambda: opens(fleet.port, new))
    finally:
        answering.terminate()
        answering.wait()

    def revoke(*what):
        output_of(fleet.fleet, "revoke", "--accounts", accounts, *fleet.access("admin"), *what)
        return (accounts / "HOSTS.jwt").stat().st_size

    def key_of(file):
        return output_of(fleet.fleet, "key", file).split()[0]

    figures["tokens: a stolen host"] = measured(
        fleet, hosts, lambda: revoke("--key", key_of(files[0])), lambda: not hosts[0].is_open, hosts[0])
    others = [word for key in fleet.hosts_keys[:revoked] for word in ("--key", key)]
    revoke(*others)
    figures[f"tokens: a stolen host after {len(others) // 2:,} others"] = measured(
        fleet, hosts[1:], lambda: revoke("--key", key_of(files[1])), lambda: not hosts[1].is_open, hosts[1])
    for host in hosts:
        host.close()
    return figures
