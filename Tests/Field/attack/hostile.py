"""What servers, portals and name servers do to the daemon, and to users who never contacted them."""

import base64
import contextlib
import gzip
import os
import socket
import ssl
import struct
import subprocess
import time
from pathlib import Path

import servers
from answers import encoded
from ground import A, B, NAMES, WELL, Client, Failure, Late, Fork, Refused, add_many
from namespaces import inside, ip
from servers import names, one_byte_chunks, plain, record, repeats, says, take_head, well
from table import attack

NO_HTTP = {
    "SSH": b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", "TLS alert": b"\x15\x03\x01\x00\x02\x02\x46", "HTTP/3.7": b"HTTP/3.7 200 OK\r\n\r\n",
    "html": b"<html><body>It works</body></html>\n", "SMTP": b"220 mail.example.net ESMTP\r\n", "zeros": bytes(2000),
    "HTTP/1.1 only": b"HTTP/1.1\r\n\r\n", "status 99999": b"HTTP/1.1 99999 What\r\n\r\n", "nothing": b"",
}


@attack("answers that are no HTTP", f"B's durable POSTs go to servers that answer: {', '.join(NO_HTTP)}",
        "none is dead after one try: each is tried again", measures=True)
def no_http(ground):
    for port, text in enumerate(NO_HTTP.values(), 8001):
        ground.server(says(text), port=port)
    ground.start()
    with ground.client(B) as b:
        numbers = {kind: b.add(f"http://{WELL}:{port}/post", method="POST", body=b"keep me")
                   for port, kind in enumerate(NO_HTTP, 8001)}
        ground.measure(1)
        requests = {kind: b.wait(number, ("done", "dead", "backoff"), 2) for kind, number in numbers.items()}
    dead = [f"{kind} ({request['reason']})" for kind, request in requests.items() if request["state"] in ("dead", "done")]
    seen = f"{len(NO_HTTP) - len(dead)} of {len(NO_HTTP)} wait for another try"
    if dead:
        raise Failure(f"{seen}; dead: {', '.join(dead)}")
    return seen


@attack("chunks of one byte", "A has 16 answers that come in chunks of one byte, as fast as they are read",
        "the kernel's notices are reported within 250 ms", measures=True)
def chunks(ground):
    for number in range(1, 5):
        ground.server(one_byte_chunks, f"203.0.113.{number}")
    ground.start()
    ground.attack(add_many, ground.socket, [f"http://203.0.113.{number}/chunks" for number in range(1, 5)], 4)
    time.sleep(1)
    ground.measure()
    try:
        late = notices(ground)
    except TimeoutError:
        raise Late("a notice was not reported within 8 s") from None
    seen = f"a notice was reported after at most {1000 * max(late):.0f} ms"
    if max(late) > 0.25:
        raise Late(seen)
    return seen


def notices(ground, count=10):
    """How long after a change of routes B receives the event."""
    late = []
    with ground.client(B, patience=8) as b:
        b.send("Monitor.Watch", more=True, target="198.51.100.9")
        b.receive()
        for number in range(count):
            ip("route", "add" if number % 2 == 0 else "del", "blackhole", "198.51.100.9/32")
            began = time.monotonic()
            b.receive()
            late.append(time.monotonic() - began)
    return late


def endless_headers(connection, journal, number):
    take_head(connection)
    journal.write(path="/headers")
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"X-A: " + b"b" * 60 + b"\r\n")


ENCODED = b"HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\n\r\n"
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
ENDLESS = {
    "headers": endless_headers, "one header": repeats(b"HTTP/1.1 200 OK\r\nX-A: ", b"b" * 1000),
    "103 Early Hints": repeats(INTERIM, INTERIM), "100 Continue": repeats(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a chunk's extension": repeats(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"a" * 1000),
    "trailers": repeats(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", b"X-T: t\r\n"),
    "body": repeats(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536),
    "status line": repeats(b"HTTP/1.1 200 ", b"O" * 1000),
    "gzip, and bytes behind its end": repeats(ENCODED % b"gzip" + gzip.compress(b"x"), b"y" * 65536),
    "members of gzip that hold nothing": repeats(ENCODED % b"gzip", gzip.compress(b"")),
    "the name of what gzip holds": repeats(ENCODED % b"gzip" + b"\x1f\x8b\x08\x08\0\0\0\0\0\xff", b"n" * 65536),
    "blocks of deflate that hold nothing": repeats(ENCODED % b"deflate" + b"\x78\x9c", b"\0\0\0\xff\xff"),
    "frames of zstd that are skipped": repeats(ENCODED % b"zstd", b"\x50\x2a\x4d\x18\0\0\0\0"),
}


@attack("answers without end", f"A is answered without end: {', '.join(ENDLESS)}",
        "none runs after 12 s, the daemon grows by less than 64 MiB", measures=True)
def endless(ground):
    for port, handle in enumerate(ENDLESS.values(), 8001):
        ground.server(handle, port=port)
    ground.start("[queue]\nanswer_bytes = 1048576\n")
    before = ground.rss()
    began = time.monotonic()
    with ground.client(A) as a:
        numbers = {kind: a.add(f"http://{WELL}:{port}/", max_attempts=1, compressed=True) for port, kind in enumerate(ENDLESS, 8001)}
        time.sleep(0.3)
        ground.measure()
        highest = ground.rss() - before
        while time.monotonic() < began + 12:
            states = {kind: a.show(number)["state"] for kind, number in numbers.items()}
            highest = max(highest, ground.rss() - before)
            if all(state != "running" for state in states.values()):
                break
            time.sleep(0.2)
    running = [kind for kind, state in states.items() if state == "running"]
    seen = f"grew by {highest:.0f} MiB; {len(running)} run after {time.monotonic() - began:.0f} s"
    if running or highest > 64:
        raise (Failure if highest > 64 else Late)(f"{seen}: {', '.join(running)}")
    return seen


# What takes longer to resolve than to read, if it does.
WINDING = {
    "up": b"../" * 20000, "here": b"./" * 30000, "up and down": b"a/../" * 12000, "in escapes": b"%2e%2e/" * 8500,
    "slashes": b"/" * 60000, "marks": "e\u0301/".encode() * 15000, "a query": b"?" + b"/../" * 15000, "a fragment": b"#" + b"a" * 60000,
    "a host": b"//" + b"a." * 30000 + b"example/", "a user": b"//" + b"u:" * 30000 + b"@198.51.100.80/",
}


@attack("winding redirects", f"16 requests of A's are redirected again and again to 60 KiB of: {', '.join(WINDING)}",
        "all are over after 15 s", measures=True)
def winding(ground):
    for port, place in enumerate(WINDING.values(), 8001):
        head = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + place + b"\r\n\r\n"
        ground.server(says(*[head] * 100), port=port)
    ground.start()
    ports = [8001 + number % len(WINDING) for number in range(16)]
    began = time.monotonic()
    adding = ground.attack(add_redirected, ground.socket, [f"http://{WELL}:{port}/{'a/' * 500}" for port in ports])
    ground.measure(3)
    with ground.client(A) as a:
        left = adding.result()
        while left and time.monotonic() < began + 15:
            left = [number for number in left if a.show(number)["state"] not in ("dead", "done", "backoff")]
            time.sleep(0.1)
    seen = f"{16 - len(left)} of 16 over after {time.monotonic() - began:.1f} s"
    if left:
        raise Late(seen)
    return seen


def add_redirected(path, urls):
    time.sleep(0.3)
    with Client(path) as a:
        return [a.add(url, location=True, max_attempts=1) for url in urls]


# 80 MiB of zeros each, as the reference encoder and a frame of RLE blocks (RFC 8878, 3.1.1) have them.
BOMBS = {
    "br": bytes.fromhex("cfffff7f002400e2b14072effff9ffff0f8004401c1680eefd3fffffff01900088c302d0bdffe7ffff3f001200715800baf7fff9ffff0f4002200e0b40f7fe1f"),
    "zstd": b"\x28\xb5\x2f\xfd\x00\x68" + b"\x02\x00\x10\x00" * 639 + b"\x03\x00\x10\x00",
    "gzip": gzip.compress(bytes(80 << 20)),
}


def add_bombs(path, urls):
    """Adds all at once, when B has begun to call."""
    time.sleep(0.5)
    with Client(path) as a:
        return [a.add(url, compressed=True, max_attempts=1) for url in urls]


@attack("answers that unpack to much", f"18 compressed answers to A at a time, of 64 bytes to 80 KiB, are 80 MiB each: {', '.join(BOMBS)}",
        "each is dead within 25 s, because it is too long; the daemon grows by less than 128 MiB", measures=True)
def unpacked(ground):
    for port, (encoding, body) in enumerate(BOMBS.items(), 8001):
        head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {len(body)}\r\n\r\n"
        for number in range(1, 7):
            ground.server(says(head.encode() + body, then="hold"), f"203.0.113.{number}", port=port)
    ground.start()
    before = ground.rss()
    urls = [f"http://203.0.113.{number}:{port}/" for port in range(8003, 8000, -1) for number in range(1, 7)]
    began, waited = time.monotonic(), ground.waited()
    adding = ground.attack(add_bombs, ground.socket, urls)
    ground.measure(4)
    numbers = adding.result()
    with ground.client(A, patience=20) as a:
        left = numbers
        # Without the time for which it got no processor.
        while left and time.monotonic() - began - (ground.waited() - waited) < 25:
            left = [number for number in left if a.show(number)["state"] not in ("dead", "done")]
            time.sleep(0.1)
        spent = time.monotonic() - began
        ends = {(request["state"], request.get("reason")) for request in map(a.show, numbers)}
    highest = ground.highest_rss() - before
    seen = f"{len(numbers) - len(left)} of {len(numbers)} over after {spent:.1f} s: {ends}; grew by {highest:.0f} MiB"
    if highest > 128 or any(state != "dead" for state, _ in ends if not left):
        raise Failure(seen)
    if left:
        raise Late(seen)
    return seen


SURPLUS = {
    "surplus": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 40\r\n\r\nok",
    "length and chunks": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "xchunked": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: xchunked\r\n\r\nok",
    "204 with a body": b"HTTP/1.1 204 No Content\r\nContent-Length: 6\r\n\r\nforged",
    "two answers": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged",
}


@attack("answers whose end is in doubt", f"a server answers with {', '.join(SURPLUS)}, and keeps the connection; then the next request",
        "the next one goes by another connection, and is not given the surplus")
def doubtful(ground):
    journals = {kind: ground.server(says(text, then="read"), port=port) for port, (kind, text) in enumerate(SURPLUS.items(), 8001)}
    ground.start()
    wrong = []
    with ground.client(A) as a:
        for port, kind in enumerate(SURPLUS, 8001):
            for turn in (1, 2):
                number = a.add(f"http://{WELL}:{port}/{turn}")
                request = a.wait(number, ("done", "dead", "backoff"), 1)
                if turn == 2 and request["state"] == "done":
                    with contextlib.suppress(Refused):
                        if b"forged" in base64.b64decode(a.queue("Result", id=number)["answer"]["data"]):
                            wrong.append(f"{kind}: given the surplus")
            lines = journals[kind].read()
            first = {line["connection"] for line in lines if line["path"] == "/1"}
            second = {line["connection"] for line in lines if line["path"] == "/2"}
            if first & second:
                wrong.append(f"{kind}: the same connection")
    seen = f"{len(SURPLUS) - len({text.split(':')[0] for text in wrong})} of {len(SURPLUS)}"
    if wrong:
        raise Failure(f"{seen}; {'; '.join(wrong)}")
    return seen


# The first body is cut off in its middle; whoever asks for the rest gets that of a longer one, which has the same tag.
CUT, FIRST_LENGTH, OTHER_LENGTH = 250_000, 500_000, 800_000


def exchanged(connection, journal, number):
    reader = servers.Reader(connection)
    while request := reader.next():
        line, headers, _ = request
        asked = next((value for name, value in headers if name.lower() == "range"), None)
        is_first = not journal.read(path="/file")
        journal.write(connection=number, path=line.split(" ")[1], range=asked)
        if is_first:
            connection.sendall(b'HTTP/1.1 200 OK\r\nETag: "same"\r\nContent-Length: %d\r\n\r\n' % FIRST_LENGTH + b"a" * CUT)
            return
        first = int(asked.removeprefix("bytes=").partition("-")[0]) if asked else 0
        head = f"HTTP/1.1 206 Part\r\nContent-Range: bytes {first}-{OTHER_LENGTH - 1}/{OTHER_LENGTH}\r\n" if asked else "HTTP/1.1 200 OK\r\n"
        connection.sendall(f'{head}ETag: "same"\r\nContent-Length: {OTHER_LENGTH - first}\r\n\r\n'.encode() + b"b" * (OTHER_LENGTH - first))


@attack("a part of another body", f"an answer of {FIRST_LENGTH:,} bytes is cut off after {CUT:,}; the rest that is asked for then is that of "
        f"another one of {OTHER_LENGTH:,} bytes, with the same tag", "B's answer is one of the two bodies, and not a piece of each")
def part_of_another(ground):
    journal = ground.server(exchanged)
    ground.start()
    with ground.client(B) as b:
        number = b.add(f"http://{WELL}/file")
        request = b.wait(number, within=25)
    asked = [line["range"] for line in journal.read(path="/file")]
    body = ground.reach(B, "queue", "result", number).stdout if request["state"] == "done" else ""
    pieces = {letter: body.count(letter) for letter in "ab"}
    seen = f"{request['state']}; asked for {', '.join(str(each) for each in asked)}; {pieces['a']:,} bytes of the first body, {pieces['b']:,} of the other"
    if all(pieces.values()):
        raise Failure(seen)
    if request["state"] != "done" or not any(asked):
        raise Late(seen)
    return seen


# ---------------------------------------------------------------- portals

PORTAL_PAGE = "http://203.0.113.99/login"
PORTAL = '[connectivity]\nendpoints = ["http://203.0.113.99/204"]\ninterval = "10s"\ntimeout = "1s"\n'


def portal(location):
    """Answers in place of every host, as a portal does, with 200 for everything but /204."""
    def handle(connection, journal, number):
        reader = servers.Reader(connection)
        while request := reader.next():
            line, headers, body = request
            path = line.split(" ")[1]
            journal.write(connection=number, path=path, headers=headers)
            connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n")
    return handle


KEYS = ("X-Api-Key", "PRIVATE-TOKEN", "X-Auth-Token", "X-Amz-Security-Token")


@attack("credentials for a portal", "a portal is proved; B adds http requests with Authorization, Cookie, keys or a body, and when=any",
        "the portal sees none of them", measures=True)
def portal_credentials(ground):
    ground.server(portal(PORTAL_PAGE.encode()), "203.0.113.99")
    everybody = ground.server(portal(PORTAL_PAGE.encode()))
    ground.start(PORTAL)
    await_connectivity(ground, "portal")
    with ground.client(B) as b:
        numbers = [b.add(f"http://{WELL}/authorization", headers=[{"name": "Authorization", "value": "Bearer secret"}]),
                   *(b.add(f"http://{WELL}/{name}", headers=[{"name": name, "value": "secret"}]) for name in KEYS),
                   b.add(f"http://{WELL}/cookie", headers=[{"name": "Cookie", "value": "secret=1"}]),
                   b.add(f"http://{WELL}/body", method="POST", body=b"secret")]
        ground.measure()
        time.sleep(1)
        states = [b.show(number) for number in numbers]
    arrived = sorted({line["path"] for line in everybody.read()} - {"/204"})
    seen = f"the portal saw {', '.join(arrived) or 'none'}; they are {', '.join(sorted({r['state'] for r in states}))} " \
           f"({', '.join(sorted({word for r in states for word in r['blockers']}))})"
    if arrived:
        raise Failure(seen)
    return seen


def await_connectivity(ground, word, within=8):
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        with ground.client(B) as b:
            found = b.call("Monitor.Status")["status"]["connectivity"]
        if found == word:
            return
        time.sleep(0.1)
    raise Failure(f"connectivity is {found} and not {word} after {within} s")


PAGES = [b"javascript:alert(1)", b"file:///etc/passwd", b"http://x/\x1b]0;title\x07", b"http://a b/`id`$(id);\"'", b"//x\\y",
         b"http://" + b"a" * 20000 + b"/", b"data:text/html,x", b"http://[::1", b"http://x/\xff\xfe", b"http://x:99999999/", b"-oProxy=x"]


@attack("portal's page for hooks", f"a portal names {len(PAGES)} pages that are none: javascript:, file:, escapes, spaces, 20,000 bytes, ...",
        "REACH_PORTAL and the status have a URL of http or https, or nothing")
def portal_pages(ground):
    hooks = ground.etc / "hooks.d"
    hooks.mkdir()
    hook = hooks / "write"
    log = ground._directory("hook", 0o755, 64001) / "log"
    hook.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$REACH_PORTAL\" >> {log}\n")
    hook.chmod(0o755)
    wrong, pages = [], []
    import re
    proper = re.compile(r"https?://[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*\Z")
    for number, page in enumerate(PAGES):
        address = f"203.0.113.{100 + number}"
        ground.server(portal(page), address)
        configuration = PORTAL.replace("203.0.113.99", address)
        if number == 0:
            ground.start(configuration)
        else:
            (ground.etc / "reach.toml").write_text(configuration)
            with ground.client(0) as root:
                root.call("Monitor.Reload")
        time.sleep(0.35)
        with ground.client(B) as b:
            status = b.call("Monitor.Status")["status"]
        pages.append(status["portal"])
        if status["portal"] is not None and not proper.match(status["portal"]) or len(status["portal"] or "") > 8192:
            wrong.append(status["portal"][:60])
    ground.must_live()
    lines = log.read_text().splitlines() if log.exists() else []
    wrong += [line[:60] for line in lines if line and not proper.match(line)]
    seen = f"{sum(page is None for page in pages)} of {len(PAGES)} named none; {len(lines)} hooks ran"
    if wrong:
        raise Failure(f"{seen}; reported: {wrong[:3]}")
    return seen


# ---------------------------------------------------------------- name servers


def name_server(ground, answers, address=NAMES):
    with inside(ground.internet):
        listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        listener.bind((address, 53))
    journal = servers.Journal(ground.directory / f"names-{address}")
    ground.far(names, listener, journal, answers)
    listener.close()
    return journal


TRUTH = {"good.example.net": WELL, "victim.example.net": WELL}


def address_of(text):
    return socket.inet_aton(text)


def truth(name, kind, message, end):
    if name in TRUTH:
        return [plain(message, end, [record(b"\xc0\x0c", 1, address_of(TRUTH[name]))] if kind == 1 else [])]
    return None


def lies(name, kind, message, end):
    """For a name that begins with a number, that lie; else the truth."""
    if name in TRUTH:
        return truth(name, kind, message, end)
    forged = record(encoded("victim.example.net"), 1, address_of("203.0.113.66"))
    own = record(b"\xc0\x0c", 1, address_of("203.0.113.66"))
    return {
        "0": [plain(message, end, [own, forged])],
        "1": [plain(message, end, [own], more=forged, additional=1)],
        "2": [plain(message, end, [own], identity=bytes([message[0] ^ 1, message[1]]))],
        "3": [plain(message, end, [forged], question=encoded("victim.example.net") + b"\0\1\0\1")],
        "4": [message[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + message[12:end] + b"\xc0\x0c\0\5\0\1\0\0\0\x3c\0\2" + struct.pack(">H", 0xC000 | (end + 12))],
        "5": [plain(message, end, [record(b"\xc0\x0c", 5, b"\xc0\x0c")])],
        "6": [plain(message, end, [own] * 25)],
        "7": [plain(message, end, [own])[:end + 5]],
        "8": [message[:2] + b"\x81\x80\xff\xff\xff\xff\xff\xff\xff\xff" + message[12:]],
        "9": [os.urandom(500)],
        "a": [message[:2] + b"\x83\x80" + message[4:]],
        "b": [b"", b"\0", message[:11], message],
        "c": [plain(message, end, [record(b"\xc0\x0c", 1, b"\xcb\0\x71")])],
        "d": [plain(message, end, [record(b"\xc0\x0c", 5, encoded("victim.example.net")), forged])],
        "e": [plain(message, end, [record(b"\xc0\x0c", 1, address_of("127.0.0.1"), ttl=0xFFFFFFFF)])],
    }.get(name[0])


@attack("name servers that lie", "A's 15 names are answered with other names, wrong numbers, loops, cuts, rubbish, and addresses of B's host",
        "the daemon lives, B's request goes to the true address, by its name")
def lying_names(ground):
    false = ground.server(well, "203.0.113.66")
    true = ground.server(well)
    asked = name_server(ground, lies)
    ground.start()
    with ground.client(A) as a, ground.client(B) as b:
        for first in "0123456789abcde":
            a.add(f"http://{first}.evil.example.com/")
        time.sleep(1.5)
        number = b.add("http://victim.example.net/mine")
        line = true.wait(lambda line: line["path"] == "/mine", 6)
        why = b.show(number)
    ground.must_live()
    stolen = [line for line in false.read() if line["path"] == "/mine"]
    seen = f"{len({line['name'] for line in asked.read()})} names asked for, B's arrived {'at the liar' if stolen else 'where it should' if line else 'nowhere'}"
    if stolen or line is None:
        raise (Failure if stolen else Late)(f"{seen} ({why['state']} {why['blockers']})")
    return seen


@attack("name servers that are silent", "A has 100 requests to names that no one answers; B has one to an address, one to a name that is answered",
        "B's address is sent within 7 s, its name within 9 s", measures=True)
def silent_names(ground):
    journal = ground.server(well)
    name_server(ground, truth)
    ground.start()
    with ground.client(A) as a, ground.client(B) as b:
        for number in range(100):
            a.add(f"http://silent-{number}.example.com/")
        time.sleep(1)
        added = time.monotonic()
        b.add(f"http://{WELL}/address")
        b.add("http://good.example.net/name")
        ground.measure()
        took = {}
        for path in ("/address", "/name"):
            line = journal.wait(lambda line: line["path"] == path, max(0, added + 10 - time.monotonic()))
            took[path] = None if line is None else line["at"] - added
    words = {path: "not in 10 s" if late is None else f"after {late:.1f} s" for path, late in took.items()}
    seen = f"address {words['/address']}, name {words['/name']}"
    if None in took.values() or took["/address"] > 7 or took["/name"] > 9:
        raise Late(seen)
    return seen


@attack("resolv.conf that changes", "resolv.conf is replaced 100 times a second: cut, empty, garbage, 1 MiB, 1,000 servers, gone",
        "the daemon lives, and B's request to a name is sent when it is as it was", measures=True)
def changing_resolv_conf(ground):
    journal = ground.server(well)
    name_server(ground, truth)
    ground.start()
    true = f"nameserver {NAMES}\noptions timeout:2 attempts:1\n"
    forms = [true, "", "nameserver", "nameserver 999.1.1.1\n" * 1000, "options ndots:99999999999\n", "x" * (1 << 20), "\0\xff" * 500,
             "nameserver fe80::1%nowhere\n", "search " + "a." * 5000 + "\n", "nameserver 127.0.0.1\n" * 1000]
    place = ground.directory / "etc-resolv.conf"

    def rewrite():
        number = 0
        while True:
            place.write_text(forms[number % len(forms)])
            number += 1
            time.sleep(0.01)

    writer = Fork(rewrite, aside=True)
    ground.processes.append(writer)
    with ground.client(A) as a, ground.client(B) as b:
        for number in range(30):
            a.add(f"http://some-{number}.example.com/")
        b.add("http://good.example.net/name")
        ground.measure()
        writer.end()
        place.write_text(true)
        number = b.add("http://victim.example.net/name-2")
        line = journal.wait(lambda line: line["path"] == "/name-2", 10)
        why = b.show(number)
    ground.must_live()
    if line is None:
        raise Late(f"B's was not sent within 10 s ({why['state']} {why['blockers']})")
    return "B's was sent"


# ---------------------------------------------------------------- TLS


def authority(ground, hosts):
    """A certificate that the daemon trusts."""
    certificate, key = ground.trusted_authority().issue("server", hosts)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context, certificate, key


@attack("TLS sessions", "A, then B, send by https to one server, which offers tickets; connections are closed after each",
        "B's handshake resumes no session of A's")
def tls_sessions(ground):
    context, _, _ = authority(ground, ["good.example.net"])
    name_server(ground, truth)
    journal = ground.server(says(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"), port=443, context=context)
    ground.start()
    with ground.client(A) as a, ground.client(B) as b:
        states = [client.wait(client.add("https://good.example.net/x"), within=8)["state"] for client in (a, b, a, b)]
    reused = [line["reused"] for line in journal.read() if "reused" in line]
    seen = f"{', '.join(states)}; resumed: {', '.join('yes' if each else 'no' for each in reused)}"
    if states != ["done"] * 4 or (len(reused) > 1 and reused[1]):
        raise Failure(seen)
    return seen


@attack("certificate for another host", "a server has a trusted certificate, of another host; B adds a POST with Authorization by https to it",
        "the request ends as untrusted, and the server sees nothing of it; a request to the certificate's host is sent")
def wrong_host(ground):
    context, _, _ = authority(ground, ["victim.example.net"])
    name_server(ground, truth)
    journal = ground.server(well, port=443, context=context)
    ground.start()
    secret = [{"name": "Authorization", "value": "Bearer secret"}]
    with ground.client(B) as b:
        wrong = b.wait(b.add("https://good.example.net/wrong", method="POST", body=b"the body", headers=secret))
        right = b.wait(b.add("https://victim.example.net/right"))
    arrived = journal.paths()
    seen = f"{wrong['state']} {wrong['reason']}, the right one {right['state']}; arrived: {', '.join(arrived) or 'nothing'}"
    if (wrong["state"], wrong["reason"]) != ("dead", "untrusted") or arrived != ["/right"] or right["state"] != "done":
        raise (Late if wrong["state"] in ("waiting", "running") else Failure)(seen)
    return seen


@attack("a name of the subject", "a trusted certificate names the host as its subject's common name alone; B sends to the host by https",
        "the request ends as untrusted, and the server sees nothing of it")
def name_of_the_subject(ground):
    _, certificate, key = authority(ground, ["good.example.net"])
    place = Path(certificate).parent
    (place / "none.ext").write_text("basicConstraints=CA:FALSE\n")
    for arguments in (("req", "-new", "-key", key, "-subj", "/CN=good.example.net", "-out", "none.csr"),
                      ("x509", "-req", "-in", "none.csr", "-CA", "root.pem", "-CAkey", "root.key", "-set_serial", "47", "-days", "100",
                       "-extfile", "none.ext", "-out", "none.pem")):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, cwd=place)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(place / "none.pem", key)
    name_server(ground, truth)
    journal = ground.server(well, port=443, context=context)
    ground.start()
    with ground.client(B) as b:
        request = b.wait(b.add("https://good.example.net/secret"))
    arrived = journal.paths()
    seen = f"{request['state']} ({request.get('reason')}); arrived: {', '.join(arrived) or 'nothing'}"
    if arrived or request["state"] == "done":
        raise Failure(seen)
    if (request["state"], request["reason"]) != ("dead", "untrusted"):
        raise Late(seen)
    return seen


@attack("certificates that cannot be read", "the machine's bundle of certificates is empty, then unreadable, while B adds requests by https; then it is whole again",
        "no request ends for it, nothing is sent, and all are sent afterwards")
def unreadable_bundle(ground):
    context, _, _ = authority(ground, ["good.example.net"])
    name_server(ground, truth)
    journal = ground.server(well, port=443, context=context)
    bundle = next(Path(place) for place in reversed(ground.mounted) if "cert" in place or "pki" in place)
    whole = bundle.read_text()
    ground.start()
    states = []
    with ground.client(B) as b:
        numbers = []
        for number, damage in enumerate((lambda: bundle.write_text(""), lambda: bundle.chmod(0))):
            damage()
            numbers.append(b.add(f"https://good.example.net/{number}"))
            states.append(b.wait(numbers[-1], ("done", "dead", "cancelled", "backoff"), 3))
        early = journal.paths()
        bundle.write_text(whole)
        bundle.chmod(0o644)
        over = [b.wait(number, within=12) for number in numbers]
    seen = ", ".join(f"{state['state']}, then {end['state']}" for state, end in zip(states, over))
    bad = [state for state in states if state["state"] in ("dead", "done")]
    if bad or early:
        raise Failure(f"{seen}; {[state['reason'] for state in bad]}, {len(early)} arrived")
    if any(end["state"] != "done" for end in over):
        raise Late(f"{seen}: {[end['blockers'] for end in over]}")
    return seen


@attack("renegotiation", "a TLS 1.2 server asks for new handshakes in a connection, 2,000 times if it may",
        "the daemon lives and takes less than a second of processor time", measures=True)
def renegotiation(ground):
    _, certificate, key = authority(ground, ["good.example.net"])
    name_server(ground, truth)

    log = open(ground.logs / "handshakes", "wb")

    def text():
        return (ground.logs / "handshakes").read_text(errors="replace")

    def renegotiate():
        process = subprocess.Popen(
            ["openssl", "s_server", "-accept", f"{WELL}:443", "-cert", certificate, "-key", key, "-tls1_2", "-state"],
            stdin=subprocess.PIPE, stdout=log, stderr=log)
        # Without a connection there is no peer for a handshake, and the program ends.
        while "GET /x" not in text():
            time.sleep(0.01)
        for _ in range(2000):
            time.sleep(0.002)
            with contextlib.suppress(OSError):
                process.stdin.write(b"r\n")
                process.stdin.flush()
        time.sleep(600)

    ground.far(renegotiate)
    time.sleep(0.3)
    ground.start()
    before = ground.processor_time()
    with ground.client(A) as a:
        number = a.add("https://good.example.net/x", max_attempts=1, expires_ms=60000)
        time.sleep(0.5)
        ground.measure()
        time.sleep(1)
        state = a.show(number)
    spent = ground.processor_time() - before
    # What B's 400 calls take is in it.
    asked = text().count("write hello request")
    seen = f"asked {asked} times before the connection was closed; {state['state']} ({state.get('reason')}), {spent:.2f} s of processor time with B's calls"
    if spent > 1.5:
        raise Failure(seen)
    return seen


# ---------------------------------------------------------------- what costs money


@attack("endpoints on a meter", "the configuration names eight endpoints of one server; the link is metered, 20,000 bytes a day, checks every 10 s",
        "no check follows one that has spent the budget")
def budget(ground):
    def ok(connection, journal, number):
        reader = servers.Reader(connection)
        while request := reader.next():
            journal.write(path=request[0].split(" ")[1])
            connection.sendall(b"HTTP/1.1 500 It\r\nContent-Length: 5000\r\n\r\n" + bytes(5000))
    journal = ground.server(ok, "203.0.113.99")
    # An endpoint that is listed twice is refused (ConfigurationTests).
    endpoints = ", ".join(f'"http://203.0.113.99/{number}"' for number in range(8))
    before = link_bytes("r0")
    ground.start("[[interface]]\nmatch = \"r0\"\nmetered = true\n[connectivity]\nmetered_bytes_per_day = 20000\n"
                 f"interval = \"10s\"\ntimeout = \"1s\"\nendpoints = [{endpoints}]\n")
    time.sleep(6)
    count, spent = len(journal.read()), link_bytes("r0") - before
    seen = f"{count} requests, {spent} bytes in 6 s"
    # What a check costs is known when it has been answered: one may go beyond.
    if not 0 < count <= 8 or spent > 20000 + 8 * 6000:
        raise Failure(seen)
    return seen


def link_bytes(name):
    return sum(int(Path(f"/sys/class/net/{name}/statistics/{which}").read_text()) for which in ("rx_bytes", "tx_bytes"))
