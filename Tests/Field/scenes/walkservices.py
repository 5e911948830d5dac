"""The servers behind each router of the walk: a name server, the web with the page of the connectivity checks, a portal and a proxy."""

import contextlib
import socket
import struct
import subprocess
import threading

from answers import encoded, question, reply, serve, serve_names

FAR, NAMES, PROXY_PORT = "203.0.113.10", "203.0.113.53", 3128
PROXY = f"http://{FAR}:{PROXY_PORT}"
HOST = "check.example.net"
CHECK = f"http://{HOST}/204"
KNOWN = {HOST, "shop.example.net", "login.example.net"}
WEB, DNS = ("works", "portal", "silent", "fails"), ("works", "silent", "servfail", "refuses")


class Services:
    """What answers behind one router; made while the current thread is in the router's namespace."""

    def __init__(self, link, asked):
        self.link, self.asked = link, asked
        self.web, self.names = "works", "works"
        self.ended = threading.Event()
        self.servers = [serve(FAR, port, self.page) for port in (80, PROXY_PORT)]
        self.socket = serve_names(NAMES, self.answer)

    def page(self, page):
        self.asked.append((page.path, self.link))
        if self.web == "silent":
            self.ended.wait(30)
            return
        page.send({"works": 204, "portal": 302, "fails": 500}[self.web],
                  **{"Location": "http://login.example.net/"} if self.web == "portal" else {})

    def answer(self, query):
        if self.names == "silent":
            return None
        code = {"works": 0, "servfail": 2, "refuses": 5}[self.names]
        if code == 0 and question(query)[0] not in KNOWN:
            code = 3  # A server that knows every name is a portal's.
        return reply(query, [] if code else [FAR], code, 1)

    def close(self):
        self.ended.set()
        for server in self.servers:
            server.shutdown()
            server.server_close()
        self.socket.close()


def has_route_to_names(link):
    """Whether a route that is no default route leads to the name server by a link."""
    routes = subprocess.run(["ip", "route", "show", "table", "all", "to", "match", NAMES, "dev", link], capture_output=True, text=True,
                            check=False).stdout
    return any(not line.startswith("default") for line in routes.splitlines())


def is_known(link):
    """Whether the name server, which has the kernel's own path, says what the address of the page is. A link with a route of its own to
    it is asked by that: two links may each have a server of this address."""
    question = struct.pack("!HHHHHH", 7, 0x0100, 1, 0, 0, 0) + encoded(HOST) + struct.pack("!HH", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.settimeout(1)
        if has_route_to_names(link):
            asked.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, link.encode() + bytes(1))
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
    if link is None or not proxied and not is_known(link):
        return "none"
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_STREAM) as page:
        page.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, link.encode() + bytes(1))
        page.settimeout(5)
        page.connect((FAR, PROXY_PORT if proxied else 80))
        page.sendall(f"GET {CHECK if proxied else '/204'} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        return {"204": "full", "302": "portal"}.get(page.recv(1500)[9:12].decode(), "none")
    return "none"
