"""`reachd` with a directory of its own, and calls of it."""

import base64
import contextlib
import json
import socket
import time

from programs import Failure, Program, wait_for


class Refused(Exception):
    """The daemon answered with an error."""

    def __init__(self, reply):
        self.error = reply["error"].rpartition(".")[2]
        self.parameters = reply.get("parameters") or {}
        super().__init__(f"{self.error} {json.dumps(self.parameters)[:120]}")


class HungUp(Failure, ConnectionError):
    """The daemon hung up."""


class Client:
    """A connection to the daemon; whoever makes it is who the daemon sees."""

    def __init__(self, path, patience=4.0):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(patience)
        self.rest = b""
        try:
            self.socket.connect(str(path))
        except OSError:
            self.socket.close()
            raise

    def send(self, method, /, more=None, oneway=None, **parameters):
        call = {"method": f"io.reach.{method}", "parameters": parameters}
        if more:
            call["more"] = True
        if oneway:
            call["oneway"] = True
        self.socket.sendall(json.dumps(call).encode() + b"\0")

    def receive(self):
        """The next answer."""
        while b"\0" not in self.rest:
            piece = self.socket.recv(1 << 20)
            if not piece:
                raise HungUp("the daemon hung up")
            self.rest += piece
        frame, _, self.rest = self.rest.partition(b"\0")
        reply = json.loads(frame)
        if "error" in reply:
            raise Refused(reply)
        return reply.get("parameters") or {}

    def call(self, method, /, **parameters):
        self.send(method, **parameters)
        return self.receive()

    def queue(self, method, /, **parameters):
        return self.call(f"Queue.{method}", **parameters)

    def add(self, url, /, **parameters):
        """Its number."""
        body = parameters.get("body")
        if isinstance(body, bytes):
            parameters["body"] = base64.b64encode(body).decode()
        return self.queue("Add", url=url, **parameters)["receipt"]["id"]

    def show(self, number):
        return self.queue("Show", id=number)["request"]

    def wait(self, number, states=("done", "dead", "cancelled"), within=10):
        """The request when it is in one of these states, or as it is when time is up."""
        deadline = time.monotonic() + within
        while True:
            request = self.show(number)
            if request["state"] in states or time.monotonic() > deadline:
                return request
            time.sleep(0.02)

    def journal(self):
        """All events that the daemon keeps."""
        events, cursor, page = [], {}, {"complete": False}
        while not page["complete"]:
            page = self.call("Monitor.Journal", limit=1000, **cursor)
            events += page["events"]
            cursor = {"log": page["log"], "after": page["next"]}
        return events

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Reachd(Program):
    """The daemon; configuration, socket, state and log are in the directory."""

    def __init__(self, program, directory, configuration, **options):
        self.directory, self.state, self.socket = directory, directory / "state", directory / "reach.sock"
        self.configuration = directory / "reach.toml"
        self.state.mkdir(parents=True, exist_ok=True)
        self.configuration.write_text(configuration)
        super().__init__(directory / "reachd.log", program, "--config", self.configuration, "--socket", self.socket, "--state",
                         self.state, **options)

    def await_answer(self, within=10):
        def answers():
            self.must_run()
            with contextlib.suppress(OSError), self.client() as client:
                return client.call("Monitor.Status")
        wait_for(answers, "the daemon answers", within)

    def client(self, patience=4.0):
        return Client(self.socket, patience)
