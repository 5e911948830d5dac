"""Who sends the requests of the benchmark of the queue, and the server that answers them."""

import contextlib
import json
import resource
import subprocess
import time
from collections import Counter

from answers import await_listener, nginx
from certificates import Authority
from measuring import ADDRESS, ip, network, prepare_child, started
from namespaces import bind

PORT = 8097
SERVER = ADDRESS.split("/")[0]
# How the server is spoken to. Behind TLS it offers HTTP/2 on one port, on the other it does not.
BASES = {"HTTP/1.1": f"http://{SERVER}:{PORT}", "TLS": f"https://{SERVER}:{PORT + 3}", "HTTP/2": f"https://{SERVER}:{PORT + 4}"}
# Documentation prefixes: a second link, and a host whose route is changed while the queue drains by the first.
SIDE_LINK, SIDE_ADDRESS, SIDE_GATEWAY, HOST = "r1", "198.51.100.2/24", "198.51.100.1", "203.0.113.77"


# ---------------------------------------------------------------- the server


class WebServer:
    """nginx on an address of this machine, so that packets use the loopback device. It logs the time of each answer.

    `/large` is the file of that name in the benchmark's directory."""

    def __init__(self, bench):
        self.protocols = Counter()
        secure = self.certificate(bench) if bench.own_mounts else ""
        self.log = bench.directory / "access.log"
        self.log.unlink(missing_ok=True)
        self.program = nginx(bench.directory, f"""
              log_format when '$msec $server_protocol'; keepalive_requests 10000000; keepalive_timeout 600s; sendfile on;
              server {{ listen {SERVER}:{PORT} backlog=4096; {secure} access_log {self.log} when buffer=64k flush=1s;
                location = /large {{ root {bench.directory}; }} location / {{ return 200 'all is well'; }} }}""",
            prepare=lambda: prepare_child(bench.server_processor))
        self.program.start()
        await_listener(SERVER, PORT)

    def certificate(self, bench):
        """The ports with TLS, whose certificate this process and its children trust: in mounts of its own."""
        if not bench.identity:
            authority = Authority(bench.directory)
            bind("/etc/ssl/certs/ca-certificates.crt", authority.root.read_text(), bench.directory)
            bench.identity = authority.issue("bench", [SERVER])
        certificate, key = bench.identity
        plain, second = PORT + 3, PORT + 4
        return f"""listen {SERVER}:{plain} ssl backlog=4096; listen {SERVER}:{second} ssl http2 backlog=4096;
                ssl_certificate {certificate}; ssl_certificate_key {key}; http2_max_concurrent_streams 128;"""

    def times(self, count):
        """The times of the last `count` answers, as soon as all are in the log."""
        deadline = time.monotonic() + 30
        while True:
            lines = self.log.read_text().splitlines() if self.log.exists() else []
            if len(lines) >= count or time.monotonic() > deadline:
                break
            time.sleep(0.1)
        self.log.write_text("")
        if len(lines) != count:
            raise RuntimeError(f"the server answered {len(lines)} requests instead of {count}")
        self.protocols = Counter(line.split()[1] for line in lines)
        return [float(line.split()[0]) for line in lines]

    def stop(self):
        self.program.stop()


@contextlib.contextmanager
def place(bench):
    """A namespace with a default route, a second link, and the server."""
    with network(bench.own_mounts):
        ip("link", "add", SIDE_LINK, "type", "veth", "peer", "name", "p1")
        ip("link", "set", "p1", "up")
        ip("address", "add", SIDE_ADDRESS, "dev", SIDE_LINK)
        ip("link", "set", SIDE_LINK, "up")
        ip("route", "add", HOST, "via", SIDE_GATEWAY, "dev", SIDE_LINK)
        web = WebServer(bench)
        try:
            yield web
        finally:
            web.stop()


# Throws away what it receives.
SINK = """
import socket, sys
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
print("ready", flush=True)
buffer = bytearray(1 << 20)
while True:
    connection, _ = listener.accept()
    head = b""
    while b"\\r\\n\\r\\n" not in head:
        head += connection.recv(65536)
    head, _, begun = head.partition(b"\\r\\n\\r\\n")
    left = next(int(line.split(b":")[1]) for line in head.split(b"\\r\\n") if line.lower().startswith(b"content-length"))
    left -= len(begun)
    if b"100-continue" in head:
        connection.sendall(b"HTTP/1.1 100 Continue\\r\\n\\r\\n")
    while left > 0:
        left -= connection.recv_into(buffer)
    connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n")
    connection.close()
"""


# ---------------------------------------------------------------- who sends


def by_curl(bench, web, concurrency, count, base=BASES["HTTP/1.1"]):
    """curl's rate, from the server's first answer to its last, so that curl's start does not count."""
    listing = bench.directory / f"list-{count}-{base.rpartition(':')[2]}"
    if not listing.exists():
        listing.write_text("".join(f'url = "{base}/?n={number}"\noutput = "/dev/null"\n' for number in range(count)))
    begun = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with started(["curl", "--silent", "--no-progress-meter", "--parallel", "--parallel-max", str(concurrency), "--config",
                  str(listing)], bench.client_processor, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        if process.wait(120) != 0:
            raise RuntimeError(f"curl ended with {process.returncode}")
    whole = time.monotonic() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    times = web.times(count)
    return {"rate": (count - 1) / (max(times) - min(times)), "whole_s": whole, "cpu_us": 1e6 * used / count}


@contextlib.contextmanager
def queue_ready(bench, sender, concurrency, count, base=BASES["HTTP/1.1"]):
    where = "memory" if sender == "memory" else str(bench.fresh("queue"))
    with started([bench.drain, "drain", where, str(count), str(concurrency), f"{base}/?n=", HOST],
                 bench.client_processor, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        printed = []
        for line in process.stdout:
            if line == "ready\n":
                break
            printed.append(line)
        # Work left from adding does not count: the database's log is moved into its file.
        time.sleep(1.5)
        yield process, printed


def by_queue(bench, web, sender, concurrency, count, base=BASES["HTTP/1.1"]):
    """The queue's rate by its own clock: from the moment it may begin until the last `done` is on the disk and reported."""
    with queue_ready(bench, sender, concurrency, count, base) as (process, _):
        process.stdin.write("go\n")
        process.stdin.flush()
        for line in process.stdout:
            if line.startswith("{"):
                figures = json.loads(line)
        process.wait(60)
    # The first one loaded the libraries, as curl's start does not count either.
    times = web.times(count + 1)[1:]
    if figures["done"] != count or figures["failed"]:
        raise RuntimeError(f"{sender}: {figures}")
    return {"rate": count / figures["seconds"], "cpu_us": 1e6 * figures["cpu_seconds"] / count,
            "server_rate": (count - 1) / (max(times) - min(times))}


def by_program(bench, web, argv, count):
    """The rate of a program by its own clock: from the creation of its first task until the last response."""
    figures = obey(bench, argv)
    web.times(count + 1)
    if figures.get("failed"):
        raise RuntimeError(f"{argv}: {figures}")
    return {"rate": count / figures["seconds"], "cpu_us": 1e6 * figures["cpu_seconds"] / count}


def by_session(bench, web, how, concurrency, count, base=BASES["HTTP/1.1"]):
    return by_program(bench, web, [bench.session, how, str(count), str(concurrency), f"{base}/?n="], count)


def obey(bench, argv):
    """Starts a program, lets it begin once it is ready, and returns what it prints."""
    with started(argv, bench.client_processor, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{argv[0]} did not get ready")
        time.sleep(0.5)
        process.stdin.write("go\n")
        process.stdin.flush()
        figures = json.loads(process.stdout.readline())
        process.wait(60)
    return figures
