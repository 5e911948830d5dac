"""A proxy between agents and a NATS server that ends TLS on both sides, loses what the server acknowledges and cuts connections."""

import asyncio
import contextlib
import ssl
import threading
from collections import Counter

CHUNK = b"reach.v1.ev."
# Of the chunks: how many lose their acknowledgement on a connection that stays, are cut in their middle, or lose the connection
# after they were handed over.
SWALLOWED, TORN, SEVERED = 0.01, 0.05, 0.05


class Proxy:
    """Runs on a thread of its own, in the network namespace of the thread that made it."""

    def __init__(self, address, server, certificate, key, authority, random, delay=0.0):
        """- delay: Seconds by which every message of the server comes later."""
        self.address, self.server, self.random, self.delay = address, server, random, delay
        self.near = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.near.load_cert_chain(certificate, key)
        self.far = ssl.create_default_context(cafile=authority)
        self.is_calm = False
        self.is_frozen = False  # nothing passes and no connection ends, as when a link is cut
        self.figures = Counter()
        self.acknowledged = Counter()  # host: chunks
        self.loop = asyncio.new_event_loop()
        self.is_listening = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        if not self.is_listening.wait(10):
            raise RuntimeError("the proxy does not listen")

    def run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.set_exception_handler(lambda loop, context: None)  # connections end in every way here
        self.loop.create_task(self.listen())
        self.loop.run_forever()

    def stop(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)

    async def listen(self):
        await asyncio.start_server(self.accept, *self.address)
        self.is_listening.set()

    async def accept(self, reader, writer):
        connection = Connection(self, writer)
        try:
            await connection.serve(reader)
        except (OSError, ssl.SSLError, EOFError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass
        finally:
            connection.cut()


class Connection:
    def __init__(self, proxy, near):
        self.proxy, self.near, self.far = proxy, near, None
        self.replies = {}  # the reply subject of a chunk that is under way: its host
        self.swallowed = set()  # reply subjects whose message is lost

    def cut(self):
        for writer in (self.near, self.far):
            if writer is not None:
                with contextlib.suppress(Exception):
                    writer.transport.abort()

    async def serve(self, near_reader):
        far_reader, self.far = await asyncio.open_connection(*self.proxy.server, limit=1 << 20)
        greeting = await far_reader.readline()
        if not greeting.startswith(b"INFO"):
            raise ValueError
        self.near.write(greeting)
        # TLS begins before anything of the client is read.
        await self.near.start_tls(self.proxy.near, ssl_handshake_timeout=10)
        await self.far.start_tls(self.proxy.far, server_hostname="127.0.0.1", ssl_handshake_timeout=10)
        self.proxy.figures["connections"] += 1
        tasks = [asyncio.ensure_future(self.pump(near_reader, self.upward)),
                 asyncio.ensure_future(self.pump(far_reader, self.downward))]
        try:
            _, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def pump(self, reader, forward):
        """Reads messages of the protocol: a line, and for some a payload whose size is the line's last word."""
        while True:
            line = await reader.readuntil(b"\r\n")
            words = line.split()
            has_payload = words and words[0].upper() in (b"PUB", b"HPUB", b"MSG", b"HMSG")
            payload = await reader.readexactly(int(words[-1]) + 2) if has_payload else b""
            while self.proxy.is_frozen:
                await asyncio.sleep(0.05)
            await forward(words, line + payload)

    async def upward(self, words, message):
        if words and words[0] in (b"PUB", b"HPUB") and words[1].startswith(CHUNK) and len(words) >= 4:
            self.proxy.figures["chunks"] += 1
            lot = 1.0 if self.proxy.is_calm else self.proxy.random.random()
            self.replies[words[2]] = words[1][len(CHUNK):].decode()
            if lot < SWALLOWED:
                self.swallowed.add(words[2])
            elif lot < SWALLOWED + TORN:
                self.proxy.figures["torn"] += 1
                self.far.write(message[:self.proxy.random.randrange(1, len(message))])
                await self.far.drain()
                raise EOFError
            elif lot < SWALLOWED + TORN + SEVERED:
                self.proxy.figures["severed"] += 1
                self.swallowed.add(words[2])
                self.far.write(message)
                await self.far.drain()
                await asyncio.sleep(self.proxy.random.uniform(0, 0.1))
                raise EOFError
        self.far.write(message)
        await self.far.drain()

    async def downward(self, words, message):
        if words and words[0] in (b"MSG", b"HMSG"):
            host = self.replies.pop(words[1], None)
            if words[1] in self.swallowed:
                self.swallowed.discard(words[1])
                self.proxy.figures["swallowed"] += 1
                return
            if host is not None and b'"seq"' in message:
                self.proxy.acknowledged[host] += 1
        if self.proxy.delay:
            return self.proxy.loop.call_later(self.proxy.delay, self.write, message)
        self.write(message)
        await self.near.drain()

    def write(self, message):
        if not self.near.is_closing() and not self.proxy.is_frozen:
            self.near.write(message)
