"""Servers that print nothing, nginx, and what a name server answers."""

import contextlib
import http.server
import shutil
import socket
import socketserver
import struct
import threading
import time

from programs import PATH, Program, wait_for


class Page(http.server.BaseHTTPRequestHandler):
    """Answers any method by `answer(page)` of its server."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.answer(self)

    do_POST = do_PUT = do_GET

    def body(self, pause=0):
        """None if the client hung up before its end. - pause: Seconds after each 64 KiB that are read."""
        left, body = int(self.headers.get("Content-Length", 0)), b""
        while left and (piece := self.rfile.read(min(left, 1 << 16))):
            body += piece
            left -= len(piece)
            time.sleep(pause)
        return None if left else body

    def send(self, status, content=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass


def serve(address, port, answer, context=None):
    """A web server in the namespace of this thread, with TLS if there is a context."""
    kind = type("Server", (Server,), {"address_family": socket.AF_INET6}) if ":" in address else Server
    server = kind((address, port), Page)
    server.answer = answer
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
    return server


def serve_names(address, answer, port=53):
    """Sends what `answer(query)` returns to who asks; nothing if that is None or an error. Until the socket is closed."""
    server = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((address, port))

    def one(query, sender):
        with contextlib.suppress(Exception):
            if (found := answer(query)) is not None:
                server.sendto(found, sender)

    def run():
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=one, args=server.recvfrom(4096), daemon=True).start()
    threading.Thread(target=run, daemon=True).start()
    return server


def nginx(directory, http, main="", **options):
    """A program that serves what is in `http` of its configuration; all its files are in the directory."""
    places = "".join(f"{part}_temp_path {directory}/{part}; " for part in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    file = directory / "nginx.conf"
    file.write_text(f"""
        daemon off; pid {directory}/pid; error_log {directory}/errors; worker_rlimit_nofile 16384; {main}
        events {{ worker_connections 8192; }}
        http {{ access_log off; root {directory}; {places} {http} }}""")
    return Program(directory / "output", shutil.which("nginx", path=PATH), "-p", directory, "-c", file, **options)


def await_listener(address, port, within=15):
    """Until someone accepts connections there."""
    def accepts():
        try:
            socket.create_connection((address, port), timeout=1).close()
            return True
        except OSError:
            return False
    wait_for(accepts, f"a server listens on port {port}", within, 0.02)


def encoded(name):
    """A name as messages of DNS have it."""
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def question(query):
    """The name and the type that a message of DNS asks for, and where the question ends."""
    place, labels = 12, []
    while query[place]:
        labels.append(query[place + 1:place + 1 + query[place]].decode().lower())
        place += 1 + query[place]
    return ".".join(labels), struct.unpack("!H", query[place + 1:place + 3])[0], place + 5


def reply(query, addresses, code=0, ttl=30):
    """An answer with those of the addresses that are of the type that is asked for."""
    _, kind, end = question(query)
    family = {1: socket.AF_INET, 28: socket.AF_INET6}.get(kind)
    found = [socket.inet_pton(family, text) for text in addresses if family == (socket.AF_INET6 if ":" in text else socket.AF_INET)]
    records = b"".join(b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, ttl, len(data)) + data for data in found)
    return query[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(found), 0, 0) + query[12:end] + records
