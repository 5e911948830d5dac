"""What clients do to `reach-fleet serve`, beside a real nats-server: users of its machine, a page of another site in a browser, a crowd."""

import contextlib
import json
import os
import re
import resource
import socket
import subprocess
import time
from pathlib import Path

import nats
from figures import memory_mib
from fleets import SERVER, URL, program
from ground import A, B, DAEMON, Failure, Fork, Late, Skip, someone
from programs import Program, wait_for
from table import attack

PLACE = ("127.0.0.1", 9110)
HOSTS = 2000
#: More than the server has places.
CROWD = 300
#: In seconds, of what B asks for.
PATIENCE = 5
#: In MiB, by all of a crowd that reads nothing. A copy of the answer for each would be hundreds.
GROWTH = 64
TOKEN = "0123456789abcdef0123456789abcdef"
PATHS = ("/", "/events", "/metrics", "/status", "/outages", "/report")


def ask(path="/status", more="", host="127.0.0.1", first="GET", patience=PATIENCE):
    """The status of the answer, its length, and after how many seconds it was whole; 0 for none."""
    began, text = time.monotonic(), b""
    with contextlib.suppress(OSError), socket.create_connection(PLACE, timeout=patience) as connection:
        connection.sendall(f"{first} {path} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n".encode())
        while piece := connection.recv(1 << 20):
            text += piece
    status = re.match(rb"HTTP/1\.1 (\d{3}) ", text)
    return int(status[1]) if status else 0, len(text), time.monotonic() - began


def follow(patience=PATIENCE):
    """Whether the stream of news begins."""
    text = b""
    with contextlib.suppress(OSError), socket.create_connection(PLACE, timeout=patience) as connection:
        connection.sendall(b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        while b"\ndata: " not in text and (piece := connection.recv(4096)):
            text += piece
    return b"\ndata: " in text


def b_asks(times):
    """What the answers were, up to the first that is none, and whether there are news."""
    answers = []
    while len(answers) < times and (not answers or answers[-1][0] == 200):
        time.sleep(0.1)
        answers.append(ask())
    return answers, answers[-1][0] == 200 and follow()


# ---------------------------------------------------------------- a fleet that is served


def fill(hosts):
    """States and leases of hosts, as their agents store them."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with nats.Client(SERVER) as client:
        for host in (f"host-{number}" for number in range(hosts)):
            state = {"v": 1, "time": now, "boottime_ns": 1, "host": host, "boot": "b", "lease_ms": 120_000, "labels": {"site": "<script>"},
                     "status": {"status": "reachable", "class": "wifi", "since": now}, "version": "1"}
            for bucket, value in (("reach_state", state), ("reach_lease", {"v": 1, "boot": "b", "n": 1, "since": now, "behind": 0})):
                client.publish(f"$KV.{bucket}.{host}", json.dumps(value).encode())
        client.flush()


class Served:
    """A nats-server, a fleet in it, and the program that serves it, as a user of its own."""

    def __init__(self, ground, hosts=HOSTS, token=None):
        self.ground, self.options = ground, []
        self.program = program(ground)
        self.place = ground._directory("served-with-token" if token else "served", 0o700, DAEMON)
        (self.place / "nats.conf").write_text(
            f'listen: "{SERVER[0]}:{SERVER[1]}"\njetstream {{ store_dir: "{self.place}/store", max_file_store: 1GB }}\n')
        self.server = Program(ground.logs / "nats", nats.nats_server(), "-c", self.place / "nats.conf")
        self.hosts, self.process = hosts, None
        if token:
            (self.place / "token").write_text(token + "\n")
            os.chown(self.place / "token", DAEMON, DAEMON)
            (self.place / "token").chmod(0o600)
            self.options = ["--token-file", self.place / "token"]

    def __enter__(self):
        self.server.start()
        wait_for(lambda: not subprocess.run([str(self.program), "setup", "--server", URL], capture_output=True, check=False).returncode,
                 "nats-server answers", 10)
        fill(self.hosts)

        def prepare():
            resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
        with open(self.ground.logs / "serve", "ab") as log:
            self.process = subprocess.Popen(
                [str(word) for word in (self.program, "serve", "--server", URL, "--listen", "%s:%d" % PLACE, "--interval", "2s", *self.options)],
                user=DAEMON, group=DAEMON, extra_groups=[], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", preexec_fn=prepare,
                env={"PATH": "/usr/bin:/bin", "CACHE_DIRECTORY": str(self.place)})
        deadline = time.monotonic() + 20
        while ask(more=f"Authorization: Bearer {TOKEN}\r\n")[0] != 200:
            if time.monotonic() > deadline or self.process.poll() is not None:
                if "libmicrohttpd" in (self.ground.logs / "serve").read_text():
                    raise Skip("libmicrohttpd is not installed (apt-get install libmicrohttpd12)")
                raise Late(f"nothing is served within 20 s: {(self.ground.logs / 'serve').read_text()[-200:]}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.server.stop()

    def must_live(self):
        if self.process.poll() is not None:
            raise Failure(f"reach-fleet serve ended with {self.process.returncode}: {(self.ground.logs / 'serve').read_text()[-200:]}")

    def resident(self):
        """In MiB."""
        self.must_live()
        return memory_mib(self.process.pid)


# ---------------------------------------------------------------- a crowd


def crowd(first, drips):
    """Connections that begin like this, and stay; where it `drips`, they send a byte now and then."""
    made = []

    def join():
        with contextlib.suppress(OSError):
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            one.settimeout(2)
            one.connect(PLACE)
            one.sendall(first)
            made.append(one)
    for _ in range(CROWD):
        join()
    while True:
        for one in list(made):
            if drips:
                try:
                    one.send(b"a")
                except OSError:
                    # It comes again at once.
                    made.remove(one)
                    one.close()
                    join()
        time.sleep(0.5)


def hang_up_again_and_again():
    while True:
        with contextlib.suppress(OSError), socket.create_connection(PLACE, timeout=2) as connection:
            connection.sendall(b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")


HEAD = b" HTTP/1.1\r\nHost: 127.0.0.1\r\n"
CROWDS = {
    "a byte now and then": (crowd, b"GET /status" + HEAD + b"X: ", True),
    "news that are followed": (crowd, b"GET /events" + HEAD + b"\r\n", False),
    "answers that are not read": (crowd, b"GET /status" + HEAD + b"\r\n", False),
    "news and gone": (hang_up_again_and_again,),
}


@attack("a crowd at the fleet's page", f"A has {CROWD} connections to `reach-fleet serve` at a time, which come again when they are closed: {', '.join(CROWDS)}",
        f"B is served within {PATIENCE} s each time, the figures and the news; it grows by less than {GROWTH} MiB")
def crowd_at_page(ground):
    with Served(ground) as served:
        seen, longest, before = [], 0, served.resident()
        for name, (function, *arguments) in CROWDS.items():
            one = Fork(function, *arguments, user=A, aside=True)
            ground.processes.append(one)
            time.sleep(3)
            asks = Fork(b_asks, 10, user=B)
            ground.processes.append(asks)
            answers, follows = asks.result(12 * PATIENCE)
            one.end()
            good = sum(status == 200 for status, _, _ in answers)
            longest = max(longest, max(seconds for _, _, seconds in answers))
            seen.append(f"{name}: {good} of 10{'' if follows else ' and no news'}")
            if good != 10 or not follows:
                raise Failure("; ".join(seen))
        grew = served.resident() - before
        seen = f"{'; '.join(seen)}; the longest answer {longest:.2f} s; grew by {grew:.0f} MiB"
        if grew > GROWTH:
            raise Failure(seen)
        return seen


# ---------------------------------------------------------------- requests that are none of ours


def raw(content, patience=3):
    """The first line of the answer."""
    text = b""
    with contextlib.suppress(OSError), socket.create_connection(PLACE, timeout=patience) as connection:
        connection.sendall(content)
        connection.shutdown(socket.SHUT_WR)
        while len(text) < 64 and (piece := connection.recv(4096)):
            text += piece
    return text.partition(b"\r\n")[0].decode("latin-1")


#: What must not be answered with 200.
STRANGE = {
    "a path that climbs": b"GET /../../etc/passwd" + HEAD + b"\r\n", "one in percents": b"GET /%2e%2e/%2e%2e/etc/passwd" + HEAD + b"\r\n",
    "two slashes": b"GET //status" + HEAD + b"\r\n", "a whole URL": b"GET http://evil.example/status" + HEAD + b"\r\n",
    "a tunnel": b"CONNECT evil.example:443" + HEAD + b"\r\n", "TRACE": b"TRACE /status" + HEAD + b"\r\n", "DELETE": b"DELETE /status" + HEAD + b"\r\n",
    "a body of a gigabyte": b"POST /" + HEAD + b"Content-Length: 1000000000\r\n\r\n" + b"x" * 100_000,
    "a chunk beyond 64 bits": b"POST /" + HEAD + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n",
    "a negative length": b"GET /status" + HEAD + b"Content-Length: -1\r\n\r\n", "a field of 2 MB": b"GET /status" + HEAD + b"X: " + b"a" * 2_000_000 + b"\r\n\r\n",
    "200,000 fields": b"GET /status" + HEAD + b"a: b\r\n" * 200_000 + b"\r\n", "a URL of 1 MB": b"GET /" + b"a" * 1_000_000 + HEAD + b"\r\n",
    "a handshake of TLS": bytes.fromhex("1603010200010001fc0303") + bytes(500), "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "noise": bytes(range(256)) * 20,
    "HTTP/1.0 without a host": b"GET /status HTTP/1.0\r\n\r\n", "no host": b"GET /status HTTP/1.1\r\n\r\n",
}
#: Hosts of requests: names that lead here, as another site's page would use them.
NAMES = ("evil.example", "evil.example:9110", "127.0.0.1.evil.example", "localhost.evil.example", "xn--localhost-", "localhost.", "[::1].evil.example", "")


@attack("strange requests for the fleet's page", f"A asks `reach-fleet serve` for {', '.join(STRANGE)}; by {len(NAMES)} names that lead to it; 5,000 requests "
        "at once; and with a token, without it, and with one that is nearly it", "it answers none of them but those that have the token, and B is served")
def strange_requests(ground):
    wrong = []
    with Served(ground, 50) as served:
        with someone(A):
            wrong += [f"{name}: {line}" for name, content in STRANGE.items() if " 200 " in (line := raw(content))]
            wrong += [f"{name or 'an empty name'}: {status}" for name in NAMES if (status := ask(host=name)[0]) == 200]
            raw((b"GET /status" + HEAD + b"\r\n") * 5000)
        served.must_live()
        wrong += [f"B: {status}" for path in PATHS if path != "/events" and (status := ask(path)[0]) != 200]
    count = len(STRANGE) + len(NAMES)
    with Served(ground, 50, TOKEN) as served:
        tokens = ("", TOKEN[:-1], TOKEN[:-1] + "e", TOKEN + "0", TOKEN.upper(), " ", "\0", "x" * 20_000)
        with someone(A):
            for path in PATHS:
                for token in tokens:
                    for field in (f"Authorization: Bearer {token}\r\n", f"X-Authorization: Bearer {TOKEN}\r\n", f"Cookie: token={TOKEN}\r\n"):
                        count += 1
                        if (status := ask(path, field, patience=2)[0]) == 200:
                            wrong.append(f"{path} with {field.strip()[:60]!r}: {status}")
                wrong += [f"{path}?token=: {status}" for status in [ask(f"{path}?token={TOKEN}", patience=2)[0]] if status == 200]
            listed = [pid for pid in os.listdir("/proc") if pid.isdigit() and pid != str(os.getpid())
                      and TOKEN.encode() in (Path(f"/proc/{pid}/cmdline").read_bytes() if Path(f"/proc/{pid}/cmdline").exists() else b"")]
        wrong += [f"the token is in the command line of {pid}" for pid in listed]
        if ask(more=f"Authorization: Bearer {TOKEN}\r\n")[0] != 200:
            wrong.append("the token itself is refused")
        served.must_live()
    if wrong:
        raise Failure(f"{len(wrong)} wrong of {count}: {wrong[:4]}")
    return f"{count} refused, B is served"
