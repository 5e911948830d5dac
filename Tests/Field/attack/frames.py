"""Servers with a trusted certificate whose frames never end, and hold nothing that a request asked for."""

import ctypes
import ctypes.util
import threading
import time

from ground import A, Failure, Late, Skip
from hostile import authority, name_server, truth
from table import attack


def frame(kind, flags=0, stream=0, payload=b""):
    """A frame of HTTP/2 (RFC 9113, 4.1)."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


DATA, HEADERS, PRIORITY, SETTINGS, PUSH, PING, WINDOW_UPDATE, CONTINUATION, UNKNOWN = 0, 1, 2, 4, 5, 6, 8, 9, 0xEE
END_HEADERS, PADDED = 4, 8
# ":status" by HPACK: 200 by its index, 103 by its letters.
OK, EARLY_HINTS = b"\x88", b"\x08\x03103"
STATUS = frame(HEADERS, END_HEADERS, 1, OK)

#: What begins the answer, and what is repeated.
FLOODS = {
    "window updates": (STATUS, frame(WINDOW_UPDATE, payload=b"\0\0\0\1")),
    "empty data": (STATUS, frame(DATA, stream=1)),
    "padded data": (STATUS, frame(DATA, PADDED, 1, b"\xff" + bytes(255))),
    "priorities": (STATUS, frame(PRIORITY, stream=1, payload=b"\0\0\0\3\x10")),
    "pings": (STATUS, frame(PING, payload=bytes(8))),
    "settings": (STATUS, frame(SETTINGS)),
    "continuations": (frame(HEADERS, 0, 1, OK), frame(CONTINUATION, stream=1)),
    "unknown frames": (STATUS, frame(UNKNOWN)),
    "pushes": (b"", frame(PUSH, END_HEADERS, 1, b"\0\0\0\2" + b"\x82\x87\x84" + b"\0\1x\1y" * 200)),
    "early hints": (b"", frame(HEADERS, END_HEADERS, 1, EARLY_HINTS)),
    "nothing but pings before an answer": (b"", frame(PING, payload=bytes(8))),
}


def endless_frames(begin, piece):
    block = piece * (65536 // len(piece))

    def handle(connection, journal, number):
        connection.sendall(frame(SETTINGS))
        rest = b""
        # The preface, then frames up to the request's head.
        while b"\x01\x05\0\0\0\1" not in rest and b"\x01\x04\0\0\0\1" not in rest:
            rest += connection.recv(1 << 16)
        journal.write(connection=number, path="/")
        threading.Thread(target=swallow, args=(connection,), daemon=True).start()
        connection.sendall(begin)
        while True:
            connection.sendall(block)
    return handle


def swallow(connection):
    """Reads what the client answers, so that it can go on."""
    try:
        while connection.recv(1 << 16):
            pass
    except OSError:
        pass


def endless_key_updates(connection, journal, number):
    """New keys of TLS 1.3 (RFC 8446, 4.6.3), in the middle of an answer. Python has no function for them; OpenSSL has."""
    library = ctypes.CDLL(ctypes.util.find_library("ssl"))
    for function in (library.SSL_key_update, library.SSL_do_handshake):
        function.argtypes = [ctypes.c_void_p] + [ctypes.c_int] * (function is library.SSL_key_update)
    # In CPython's object the SSL follows the reference to the socket.
    handle = ctypes.c_void_p.from_address(id(connection._sslobj) + 3 * ctypes.sizeof(ctypes.c_void_p)).value
    connection.recv(1 << 16)
    journal.write(connection=number, path="/")
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")
    updates = 0
    while library.SSL_key_update(handle, 0) == 1 and library.SSL_do_handshake(handle) == 1:
        updates += 1
        if updates % 10000 == 0:
            journal.write(updates=updates)


def endless_hello_requests(connection, journal, number):
    """Messages of TLS 1.2 that a client ignores within a handshake (RFC 5246, 7.4.1.1). They need no certificate."""
    connection.recv(1 << 16)
    journal.write(connection=number, path="/")
    block = (b"\x16\x03\x03\x40\0" + bytes(1 << 14)) * 4
    while True:
        connection.sendall(block)


def flooded(ground, handle, protocols, servers=3):
    """A's requests to such servers, with B's calls while they are answered; how they ended."""
    context = None
    if protocols:
        context, _, _ = authority(ground, ["good.example.net"])
        context.set_alpn_protocols(protocols)
    name_server(ground, truth)
    ports = range(8443, 8443 + servers)
    journals = [ground.server(handle, port=port, context=context) for port in ports]
    ground.start()
    began = time.monotonic()
    with ground.client(A, patience=20) as a:
        numbers = [a.add(f"https://good.example.net:{port}/", max_attempts=1) for port in ports]
        if not all(journal.wait(lambda line: "path" in line, 5) for journal in journals):
            raise Late("not every server saw its request within 5 s")
        ground.measure()
        over = [a.wait(number, ("done", "dead", "cancelled", "backoff"), max(0.1, began + 20 - time.monotonic())) for number in numbers]
    took = time.monotonic() - began
    ground.must_live()
    ends = sorted({f"{request['state']} ({request.get('reason')})" for request in over})
    seen = f"after {took:.0f} s they are {', '.join(ends)}"
    if any(request["state"] == "done" for request in over):
        raise Failure(seen)
    if any(request["state"] == "running" for request in over):
        raise Late(seen)
    return seen


def row(name, handle, protocols, tried):
    @attack(name, f"A sends requests to three servers with a trusted certificate, which answer with {tried} without end",
            "B is served meanwhile, and the requests end within 20 s", measures=True)
    def play(ground):
        return flooded(ground, handle, protocols)


for kind, (begin, piece) in FLOODS.items():
    row(f"HTTP/2: {kind}", endless_frames(begin, piece), ["h2"], f"{kind}, in HTTP/2")


@attack("TLS 1.3: key updates", "A sends requests to three servers with a trusted certificate, which send new keys without end",
        "B is served meanwhile, and the requests end within 20 s", measures=True)
def key_updates(ground):
    if not ctypes.util.find_library("ssl"):
        raise Skip("there is no libssl")
    return flooded(ground, endless_key_updates, ["http/1.1"])


@attack("TLS 1.2: hello requests", "A sends requests to three servers without a certificate, which ask for a handshake without end within one",
        "B is served meanwhile, and the requests end within 20 s", measures=True)
def hello_requests(ground):
    return flooded(ground, endless_hello_requests, [])
