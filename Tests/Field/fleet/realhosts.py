"""The hosts of the demonstration and of the day: each a network namespace with a daemon and an agent, on one bridge."""

import asyncio
import contextlib
import os
import socket
import threading

from namespaces import enter, inside, ip, namespace_with
from nats import Agent
from reachd import Reachd

HOSTS = ["real-1", "real-2", "real-3"]
# What the hosts reach the server by; the bridge between them has it.
GATEWAY = ("192.0.2.1", 4222)


class Relay(threading.Thread):
    """Hands connections of the hosts' network over to the server on this machine's loopback."""

    def __init__(self, namespace, server, port=GATEWAY[1], source="127.0.0.1"):
        """- source: The address that the server sees."""
        super().__init__(daemon=True)
        self.server, self.source = server, source
        with inside(namespace):
            self.listener = socket.create_server((GATEWAY[0], port))
        self.loop = asyncio.new_event_loop()
        self.start()

    def run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.set_exception_handler(lambda loop, context: None)
        self.loop.create_task(asyncio.start_server(self.accept, sock=self.listener))
        self.loop.run_forever()

    async def accept(self, reader, writer):
        with contextlib.suppress(OSError):
            far_reader, far_writer = await asyncio.open_connection(*self.server, local_addr=(self.source, 0))
            await asyncio.gather(self.pump(reader, far_writer), self.pump(far_reader, writer), return_exceptions=True)
        writer.close()

    @staticmethod
    async def pump(reader, writer):
        try:
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()


class RealHost:
    def __init__(self, name, number, engine, bridge, key=None, port=GATEWAY[1]):
        """- key: The file of another key than the host's."""
        self.directory, self.bridge, self.number = engine.directory / f"host-{number}", bridge, number
        self.namespace = namespace_with(self.make_network)
        self.daemon = Reachd(
            engine.fleet.with_name("reachd"), self.directory,
            '[journal]\nevents = ["status", "connectivity", "probe", "queue"]\n', prepare=lambda: enter(self.namespace))
        self.agent = Agent(engine, self.daemon, name, (GATEWAY[0], port), """
            labels = { site = "this-machine" }
            groups = ["real"]
            accept = ["queue-hold"]
            """, key, prepare=lambda: enter(self.namespace))
        self.programs = [self.daemon, self.agent]
        for program in self.programs:
            program.start()

    def make_network(self):
        ip("link", "add", "eth0", "type", "veth", "peer", "name", f"port{self.number}", "netns",
           f"/proc/{os.getpid()}/fd/{self.bridge}")
        ip("address", "add", f"192.0.2.{10 + self.number}/24", "dev", "eth0")
        ip("link", "set", "eth0", "up")
        ip("route", "add", "default", "via", GATEWAY[0], "dev", "eth0")
        with inside(self.bridge):
            ip("link", "set", f"port{self.number}", "master", "bridge", "up")

    @property
    def state(self):
        return self.agent.state


def make_bridge():
    ip("link", "add", "bridge", "type", "bridge", "forward_delay", "0")
    ip("link", "set", "bridge", "up")
    ip("address", "add", f"{GATEWAY[0]}/24", "dev", "bridge")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
