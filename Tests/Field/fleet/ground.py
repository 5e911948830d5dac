"""Shared by the fleet's crash test and demonstration: processes, network namespaces, a nats-server with TLS and keys."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "contrib/bench"))
from measuring import CLONE_NEWNET, CLONE_NEWNS, MS_PRIVATE, MS_REC, libc, prepare_child, system_call, this_namespace


def nats_server():
    return shutil.which("nats-server", path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")


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


def run(*arguments):
    done = subprocess.run([str(word) for word in arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{arguments[0]}: {done.stdout}{done.stderr}")
    return done.stdout


def await_true(what, is_true, limit=60):
    deadline = time.monotonic() + limit
    while not is_true():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what}: not within {limit} s")
        time.sleep(0.01)


class Program:
    """A process that is killed and started again."""

    def __init__(self, log, *arguments, prepare=lambda: prepare_child(None)):
        self.log, self.arguments, self.prepare = log, [str(word) for word in arguments], prepare
        self.process = None
        self.kills = 0

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=self.prepare)

    def kill(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.arguments[0]} ended by itself with {self.process.returncode}: "
                               + Path(self.log).read_text()[-2000:])
        self.process.kill()
        self.process.wait()
        self.kills += 1

    def stop(self):
        if self.process is None or self.process.poll() is not None:
            return None
        self.process.terminate()
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


def new_namespace(prepare):
    """Makes a network namespace without a name, calls `prepare` in it, and returns an open file that holds it."""
    home = this_namespace()
    system_call("unshare", CLONE_NEWNET)
    try:
        prepare()
        return this_namespace()
    finally:
        system_call("setns", home, CLONE_NEWNET)
        os.close(home)


def enter(namespace):
    """In a child: into a network, with the /sys that shows it where that can be mounted."""
    prepare_child(None)
    libc.setns(namespace, CLONE_NEWNET)
    if libc.unshare(CLONE_NEWNS) == 0 and libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) == 0:
        libc.mount(b"sysfs", b"/sys", b"sysfs", 0, None)


# ---------------------------------------------------------------- the engine


class Engine:
    """A nats-server as an operator makes it: TLS, a key for each host with its rights, streams made by `reach-fleet setup`."""

    def __init__(self, directory, fleet, address, names, users=(), addresses=(), store_size="10GB"):
        """
        - names: The hosts.
        - users: Others who get keys: "reader", "operator", or another word, which may do everything.
        - addresses: Further addresses by which the server is reached.
        """
        self.directory, self.fleet, self.address, self.store_size = directory, fleet, address, store_size
        self.server = nats_server()
        self.make_certificate([address[0], *addresses])
        self.keys = {name: run(fleet, "key", directory / f"{name}.nk").split()[0] for name in ["admin", *users, *names]}
        (directory / "hosts").write_text("".join(f"{name} {self.keys[name]} real\n" for name in names))
        self.write_configurations(users)
        self.program = None
        self.set_up()

    def set_up(self):
        """Makes the streams in an empty store."""
        self.start(is_open=True)
        run(self.fleet, "setup", "--server", "nats://%s:%d" % self.address, "--hosts", self.directory / "hosts")
        self.stop()

    def write_configurations(self, users):
        special = [word for user in users if user in ("reader", "operator") for word in (f"--{user}", self.keys[user])]
        text = run(
            self.fleet, "config", "--hosts", self.directory / "hosts", "--admin", self.keys["admin"], *special, "--listen",
            "%s:%d" % self.address, "--store", self.directory / "store", "--store-size", self.store_size,
            "--tls-certificate", self.certificate, "--tls-key", self.key, "--for",
            run(self.server, "--version").split(":")[-1].strip().lstrip("v"))
        everything = "".join(f"{{ nkey: {self.keys[user]} }}\n" for user in users if user not in ("reader", "operator"))
        (self.directory / "nats.conf").write_text(text.replace("users: [", "users: [\n" + everything, 1))
        limit = re.search(r"max_file_store: (\S+)", text)[1]
        (self.directory / "open.conf").write_text(f"""
            listen: "{self.address[0]}:{self.address[1]}"
            jetstream {{ store_dir: "{self.directory}/store", max_file_store: {limit} }}
            accounts {{ REACH {{ jetstream: enabled, users: [ {{ user: anyone, password: anyone }} ] }} }}
            no_auth_user: anyone
            """)

    def make_certificate(self, addresses):
        directory = self.directory
        self.authority, self.certificate, self.key = (directory / name for name in ("ca.pem", "server.pem", "server.key"))
        names = ",".join(f"IP:{address}" for address in addresses)
        new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        run(*new, "-keyout", directory / "ca.key", "-out", self.authority, "-subj", "/CN=Fleet's authority", "-addext",
            "keyUsage=critical,keyCertSign")
        run(*new, "-keyout", self.key, "-out", self.certificate, "-subj", "/CN=engine", "-CA", self.authority, "-CAkey",
            directory / "ca.key", "-addext", f"subjectAltName={names}", "-addext", "basicConstraints=critical,CA:FALSE")

    def start(self, is_open=False):
        """- is_open: Without TLS and keys: for the first setup, and for a reader that shares nothing with the agent."""
        if self.program is None or is_open:
            kills = self.program.kills if self.program else 0
            name = "open" if is_open else "nats"
            self.program = Program(
                self.directory / f"{name}.log", self.server, "-c", self.directory / f"{name}.conf")
            self.program.kills = kills
        self.program.start()
        await_true("nats-server listens", self.answers)

    def stop(self):
        if self.program is not None:
            self.program.stop()
        if self.program is not None and "open.conf" in self.program.arguments[-1]:
            self.program = None

    def answers(self):
        with contextlib.suppress(OSError), socket.create_connection(self.address, 1) as connection:
            connection.settimeout(1)
            return connection.recv(5) == b"INFO "
        return False
