"""The servers behind each router of the walk: a name server, the web with the page of the connectivity checks, a portal and a proxy."""

import contextlib
import http.server
import socket
import struct
import subprocess
import threading
from pathlib import Path

FAR, NAMES, PROXY_PORT = "203.0.113.10", "203.0.113.53", 3128
PROXY = f"http://{FAR}:{PROXY_PORT}"
HOST = "check.example.net"
CHECK = f"http://{HOST}/204"
WRITTEN = [b"".join(bytes([len(label)]) + label for label in name.split(b".")) + bytes(1)
           for name in (HOST.encode(), b"shop.example.net", b"login.example.net")]
NAME, KNOWN = WRITTEN[0], set(WRITTEN)
WEB, DNS = ("works", "portal", "silent", "fails"), ("works", "silent", "servfail", "refuses")


class Web(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        services = self.server.services
        services.asked.append((self.path, services.link))
        if services.web == "silent":
            services.ended.wait(30)
            return
        self.send_response({"works": 204, "portal": 302, "fails": 500}[services.web])
        if services.web == "portal":
            self.send_header("Location", "http://login.example.net/")
        self.send_header("Content-Length", "0")
        self.end_headers()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client that goes away is no error."""


class Services:
    """What answers behind one router; made while the current thread is in the router's namespace."""

    def __init__(self, link, asked):
        self.link, self.asked = link, asked
        self.web, self.names = "works", "works"
        self.ended = threading.Event()
        self.servers = []
        for port in (80, PROXY_PORT):
            server = Server((FAR, port), Web)
            server.services = self
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.servers.append(server)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((NAMES, 53))
        threading.Thread(target=self._answer, daemon=True).start()

    def _answer(self):
        with contextlib.suppress(OSError):
            while True:
                question, sender = self.socket.recvfrom(1500)
                if self.names == "silent" or len(question) < 17:
                    continue
                end = question.index(0, 12) + 5
                kind = struct.unpack("!H", question[end - 4:end - 2])[0]
                code = {"works": 0, "servfail": 2, "refuses": 5}[self.names]
                if code == 0 and question[12:end - 4].lower() not in KNOWN:
                    code = 3  # A server that knows every name is a portal's.
                answers = socket.inet_aton(FAR) if code == 0 and kind == 1 else b""
                head = question[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, 1 if answers else 0, 0, 0)
                record = struct.pack("!HHHIH", 0xC00C, 1, 1, 1, 4) + answers if answers else b""
                self.socket.sendto(head + question[12:end] + record, sender)

    def close(self):
        self.ended.set()
        for server in self.servers:
            server.shutdown()
            server.server_close()
        self.socket.close()


def write_resolver(directory):
    """Names are asked of the server behind the routers; the mount is this process's own."""
    file = Path(directory) / "resolv.conf"
    file.write_text(f"nameserver {NAMES}\noptions timeout:1 attempts:2\n")
    subprocess.run(["mount", "--bind", str(file), "/etc/resolv.conf"], check=True)


def is_known():
    """Whether the name server, which has the kernel's own path, says what the address of the page is."""
    question = struct.pack("!HHHHHH", 7, 0x0100, 1, 0, 0, 0) + NAME + struct.pack("!HH", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.settimeout(1)
        for _ in range(2):
            with contextlib.suppress(OSError):
                asked.sendto(question, (NAMES, 53))
                answer = asked.recv(1500)
                return answer[3] & 15 == 0 and answer.endswith(socket.inet_aton(FAR))
    return False


def truth(link, proxied):
    """What a program finds that fetches the page of the checks by a link: `full`, `portal`, or `none` for anything else.

    It must not go by another: the page may have a route of its own, which says nothing of the Internet behind this one.
    """
    if link is None or not proxied and not is_known():
        return "none"
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_STREAM) as page:
        page.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, link.encode() + bytes(1))
        page.settimeout(5)
        page.connect((FAR, PROXY_PORT if proxied else 80))
        page.sendall(f"GET {CHECK if proxied else '/204'} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        return {"204": "full", "302": "portal"}.get(page.recv(1500)[9:12].decode(), "none")
    return "none"
