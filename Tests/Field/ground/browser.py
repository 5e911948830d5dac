"""A headless Chromium, driven by its DevTools protocol."""

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request

from programs import end


class Browser:
    """One page in a Chromium of its own, which ends with the block. `messages` collects what the page complains about. It reaches no
    host but this one."""

    def __init__(self, width=1280, height=860, scheme="light", host=None):
        self.size, self.scheme, self.messages, self.number = (width, height), scheme, [], 0
        self.hosts = "MAP * ~NOTFOUND" + (f", EXCLUDE {host}" if host else "")

    def __enter__(self):
        program = find()
        self.home = tempfile.mkdtemp(prefix="reach-chromium-")
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--hide-scrollbars", f"--host-resolver-rules={self.hosts}", "--remote-debugging-port=0",
             "--user-data-dir=" + self.home, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            port = self._port()
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=10) as answer:
                page = next(each for each in json.load(answer) if each["type"] == "page")
            self.channel = Channel(port, page["webSocketDebuggerUrl"].split(str(port), 1)[1])
            for domain in ("Page", "Runtime", "Log"):
                self.call(domain + ".enable")
            self.emulate(*self.size, self.scheme)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        end(self.process, 10)
        shutil.rmtree(self.home, ignore_errors=True)

    def _port(self):
        name = os.path.join(self.home, "DevToolsActivePort")
        limit = time.monotonic() + 30
        while time.monotonic() < limit:
            if self.process.poll() is not None:
                raise RuntimeError(f"Chromium ended with {self.process.returncode}")
            try:
                with open(name, encoding="ascii") as file:
                    lines = file.read().split("\n")
                if len(lines) > 1:
                    return int(lines[0])
            except FileNotFoundError:
                pass
            time.sleep(0.05)
        raise RuntimeError("Chromium opened no port within 30 s")

    def call(self, method, **parameters):
        self.number += 1
        self.channel.send({"id": self.number, "method": method, "params": parameters})
        while True:
            message = self.channel.receive()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self._note(message)

    def _note(self, message):
        what, details = message.get("method"), message.get("params", {})
        if what == "Runtime.exceptionThrown":
            thrown = details["exceptionDetails"]
            self.messages.append(thrown.get("exception", {}).get("description") or thrown["text"])
        elif what == "Log.entryAdded" and details["entry"]["level"] in ("warning", "error"):
            self.messages.append(details["entry"]["text"])
        elif what == "Page.javascriptDialogOpening":
            self.messages.append("a dialog opened: " + details["message"])
            self.call("Page.handleJavaScriptDialog", accept=True)

    def emulate(self, width, height, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url, ready):
        """Opens a page and waits until the expression `ready` is true in it."""
        self.call("Page.navigate", url=url)
        self.wait(ready)

    def wait(self, expression, limit=20):
        """Waits until an expression is true in the page."""
        end = time.monotonic() + limit
        while not self._holds(expression):
            if time.monotonic() > end:
                raise RuntimeError(f"not true within {limit} s: {expression}")
            time.sleep(0.02)

    def _holds(self, expression):
        try:
            return self.evaluate(f"Boolean({expression})")
        except RuntimeError as error:
            # The page was loaded again while it was asked.
            if "navigated or closed" in str(error) or "context was destroyed" in str(error):
                return False
            raise

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    KEYS = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38, "PageDown": 34, "PageUp": 33, "Home": 36,
            "End": 35}

    def press(self, key):
        """Presses and releases a key: a name such as ArrowDown, or a character."""
        event = {"key": key, "code": key, "windowsVirtualKeyCode": self.KEYS.get(key) or ord(key.upper())}
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else None)
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **event, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text):
        for character in text:
            self.press(character)

    def screenshot(self, path):
        shot = self.call("Page.captureScreenshot", format="png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))


class Channel:
    """The client's side of a WebSocket (RFC 6455) to this machine, for texts."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            (f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.input = self.socket.makefile("rb")
        if b" 101 " not in self.input.readline():
            raise RuntimeError("Chromium refused the WebSocket")
        while self.input.readline().strip():
            pass

    def send(self, message):
        text = json.dumps(message).encode()
        size = len(text)
        head = bytes([0x81]) + (bytes([0x80 | size]) if size < 126 else struct.pack(">BH", 0x80 | 126, size) if size < 65536
                                else struct.pack(">BQ", 0x80 | 127, size))
        self.socket.sendall(head + bytes(4) + text)  # a mask of zeros

    def receive(self):
        text = b""
        while True:
            first, size = self.input.read(2)
            if size == 126:
                size = struct.unpack(">H", self.input.read(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.input.read(8))[0]
            part = self.input.read(size)
            if first & 15 in (0, 1):
                text += part
                if first & 0x80:
                    return json.loads(text)
            elif first & 15 == 8:
                raise RuntimeError("Chromium closed the WebSocket")


def find():
    """The path of a Chromium; None if there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
