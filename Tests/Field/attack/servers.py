"""Servers that answer, and servers that misbehave. Each runs in a process of its own, with a thread for each connection."""

import contextlib
import json
import struct
import threading
import time

from answers import question


class Journal:
    """What a server has seen, a line each, in a file."""

    def __init__(self, path):
        self.path = path
        self.path.touch()
        self.file = None

    def write(self, **what):
        what["at"] = time.monotonic()
        if self.file is None:
            self.file = open(self.path, "ab", buffering=0)
        self.file.write(json.dumps(what).encode() + b"\n")

    def read(self, **wanted):
        lines = [json.loads(line) for line in self.path.read_bytes().split(b"\n")[:-1]]
        return [line for line in lines if all(line.get(key) == value for key, value in wanted.items())]

    def wait(self, matches, within=5):
        """The first line like this; None if there is none in time."""
        deadline = time.monotonic() + within
        while True:
            for line in self.read():
                if matches(line):
                    return line
            if time.monotonic() > deadline:
                return None
            time.sleep(0.02)

    def paths(self):
        return [line["path"] for line in self.read() if "path" in line]


def serve(listener, handle, journal, context=None):
    """Until the process ends."""
    number = 0
    while True:
        connection, _ = listener.accept()
        number += 1
        threading.Thread(target=_handle, args=(connection, handle, journal, number, context), daemon=True).start()


def _handle(connection, handle, journal, number, context):
    with contextlib.suppress(OSError, ValueError):
        if context:
            connection = context.wrap_socket(connection, server_side=True)
            journal.write(connection=number, reused=connection.session_reused)
        handle(connection, journal, number)
    with contextlib.suppress(OSError):
        connection.close()


# ---------------------------------------------------------------- one that does as it should


class Reader:
    """Requests as HTTP/1.1 has them, one after the other."""

    def __init__(self, connection):
        self.connection = connection
        self.rest = b""

    def _until(self, enough):
        while not enough():
            piece = self.connection.recv(1 << 16)
            if not piece:
                return False
            self.rest += piece
        return True

    def next(self):
        """(line, headers, body); None at the end."""
        if not self._until(lambda: b"\r\n\r\n" in self.rest):
            return None
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        line, *fields = head.decode("latin-1").split("\r\n")
        headers = [tuple(part.strip() for part in field.partition(":")[::2]) for field in fields]
        lengths = [value for name, value in headers if name.lower() == "content-length"]
        length = int(lengths[0]) if lengths and lengths[0].isdigit() else 0
        if not self._until(lambda: len(self.rest) >= length):
            return None
        body, self.rest = self.rest[:length], self.rest[length:]
        return line, headers, body


def well(connection, journal, number):
    """Keeps connections, and answers as the path says: /bytes/N, /status/N, /after/SECONDS, /cookie, /to/URL, /authenticate."""
    reader = Reader(connection)
    while request := reader.next():
        line, headers, body = request
        path = line.split(" ")[1] if line.count(" ") >= 1 else line
        journal.write(connection=number, line=line, path=path, headers=headers, body=body[:200].decode("latin-1"))
        connection.sendall(answer_of(path, path.strip("/").split("/", 1)))


def quick(connection, journal, number):
    """Answers thousands: 404 where the path says so, 200 else; writes nothing down."""
    rest = b""
    while piece := connection.recv(1 << 16):
        rest += piece
        while b"\r\n\r\n" in rest:
            head, _, rest = rest.partition(b"\r\n\r\n")
            status = b"404 No" if b"/status/404" in head else b"200 OK"
            connection.sendall(b"HTTP/1.1 " + status + b"\r\nContent-Length: 2\r\n\r\nok")


def answer_of(path, words):
    status, more, content = "200 OK", "", b"ok " + path.encode()
    if words[0] == "bytes":
        content = bytes(int(words[1].split("?")[0].split("/")[0]))
    elif words[0] == "status":
        status = f"{words[1].split('/')[0].split('?')[0]} It"
    elif words[0] == "after":
        status, more = "503 Later", f"Retry-After: {words[1]}\r\n"
    elif words[0] == "date":
        status, more = "503 Later", "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n"
    elif words[0] == "cookie":
        more = "Set-Cookie: who=alice; Path=/\r\n"
    elif words[0] == "authenticate":
        status, more = "401 Who", 'WWW-Authenticate: NTLM\r\nWWW-Authenticate: Negotiate\r\nWWW-Authenticate: Basic realm="x"\r\n'
    elif words[0] == "to":
        status, more = "302 There", f"Location: {words[1]}\r\n"
    return f"HTTP/1.1 {status}\r\n{more}Content-Length: {len(content)}\r\n\r\n".encode() + content


# ---------------------------------------------------------------- some that do not


def take_head(connection):
    head = b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(1 << 16)
        if not piece:
            return None
        head += piece
    return head


def says(*texts, then="close", first=False):
    """Answers each request of a connection with the next of these texts, whatever was asked."""
    def handle(connection, journal, number):
        for text in texts:
            if not first:
                head = take_head(connection)
                if head is None:
                    return
                journal.write(connection=number, line=head.split(b"\r\n")[0].decode("latin-1"),
                              path=head.split(b" ")[1].decode("latin-1"))
            connection.sendall(text)
        if then == "hold":
            time.sleep(600)
        elif then == "read":
            while head := take_head(connection):
                journal.write(connection=number, line=head.split(b"\r\n")[0].decode("latin-1"),
                              path=head.split(b" ")[1].decode("latin-1"))
    return handle


def repeats(begin, piece, pause=0):
    """Begins an answer, and never ends it."""
    block = piece if pause else piece * max(1, 65536 // len(piece))

    def handle(connection, journal, number):
        head = take_head(connection)
        if head is None:
            return
        journal.write(connection=number, path=head.split(b" ")[1].decode("latin-1"))
        connection.sendall(begin)
        while True:
            connection.sendall(block)
            if pause:
                time.sleep(pause)
    return handle


drips = repeats(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b"x", pause=3)
one_byte_chunks = repeats(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n")


# ---------------------------------------------------------------- name servers


def record(name, kind, data, ttl=60):
    return name + struct.pack(">HHIH", kind, 1, ttl, len(data)) + data


def names(port_socket, journal, answers):
    """Answers questions for addresses: `answers` says for a name what; silent where it returns None."""
    listener = port_socket
    while True:
        message, sender = listener.recvfrom(4096)
        with contextlib.suppress(IndexError, OSError, struct.error):
            name, kind, end = question(message)
            journal.write(name=name, kind=kind)
            for reply in answers(name, kind, message, end) or []:
                listener.sendto(reply, sender)


def plain(message, end, records, kind=1, identity=None, flags=0x8180, more=b"", additional=0, question=None):
    identity = message[:2] if identity is None else identity
    asked = message[12:end] if question is None else question
    return identity + struct.pack(">HHHHH", flags, 1, len(records), 0, additional) + asked + b"".join(records) + more
