#!/usr/bin/env python3
"""The server of the examples: python3 Examples/server.py [ADDRESS:]PORT

Prints its URL, and then a line for each request: method, path, status, and the range that was asked for. Port 0 is any free
port.
"""

import json
import sys
import time
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FILE = bytes(range(256)) * 16 * 1024  # 4 MiB
TOKEN = "fresh"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "examples"

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path.startswith("/orders/"):
            self.order(int(path.rpartition("/")[2]))
        elif path == "/users":
            page = int(self.path.rpartition("page=")[2] or 1)
            self.send_json({"page": page, "total": 2, "users": [{"id": 1, "name": "Ann"}, {"id": 2, "name": "Bob"}]})
        elif path == "/headlines":
            self.headlines()
        elif path == "/image":
            self.send_body(200, FILE[:4096], [("Content-Type", "image/png")])
        elif path == "/large":
            self.large()
        else:
            self.send_json({"error": "there is no " + path}, 404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/token":
            return self.send_json({"token": TOKEN})
        kind = self.headers.get_content_type()
        if kind == "multipart/form-data":
            form = message_from_bytes(b"Content-Type: " + self.headers["Content-Type"].encode() + b"\r\n\r\n" + body)
            names = [part.get_param("name", header="content-disposition") for part in form.get_payload()]
            return self.send_json({"parts": names}, 201)
        if kind == "application/json":
            return self.send_json({"id": 3, **json.loads(body)}, 201)
        self.send_json({"form": body.decode()}, 201)

    def do_PUT(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_json({"stored": len(body)}, 201)

    def order(self, number):
        if self.headers.get("Authorization") != "Bearer " + TOKEN:
            return self.send_json({"error": "the token has expired"}, 401, [("WWW-Authenticate", "Bearer")])
        self.send_json({"id": number, "item": ["tea", "coffee", "sugar"][number % 3]})

    def headlines(self):
        tag = '"1"'
        fields = [("Cache-Control", "max-age=0"), ("ETag", tag), ("Content-Type", "text/plain")]
        if self.headers.get("If-None-Match") == tag:
            return self.send_body(304, b"", fields)
        self.send_body(200, b"Network down in half the city", fields)

    def large(self):
        """Sends four megabytes in about two seconds, from where a range begins."""
        begin, _, _ = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")
        first = int(begin)
        self.send_response(206 if "Range" in self.headers else 200)
        self.send_header("ETag", '"large"')
        self.send_header("Content-Length", str(len(FILE) - first))
        if "Range" in self.headers:
            self.send_header("Content-Range", f"bytes {first}-{len(FILE) - 1}/{len(FILE)}")
        self.end_headers()
        try:
            for offset in range(first, len(FILE), 1 << 16):
                self.wfile.write(FILE[offset : min(offset + (1 << 16), len(FILE))])
                time.sleep(0.03)
        except OSError:  # the client has enough
            self.close_connection = True

    def send_json(self, value, status=200, fields=()):
        self.send_body(status, json.dumps(value).encode(), [("Content-Type", "application/json"), *fields])

    def send_body(self, status, body, fields):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code="-", size="-"):
        line = f"{self.command} {self.path} {int(code)} {self.headers.get('Range', '')}".rstrip()
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    address, _, port = (sys.argv[1] if len(sys.argv) > 1 else "8080").rpartition(":")
    server = ThreadingHTTPServer((address or "127.0.0.1", int(port)), Handler)
    print(f"listening on http://{server.server_address[0]}:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
