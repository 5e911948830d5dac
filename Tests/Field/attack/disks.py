"""Disks and file systems that do not answer."""

import contextlib
import json
import os
import socket
import struct
import time
from pathlib import Path

import fuse
from ground import A, ADD_URL, B, FLOOR, WAITS, WELL, Client, Failure, Fork, Late, Refused, call_on_a_grid
from figures import quantile
from namespaces import ip
from servers import well
from table import attack

#: In seconds.
HELD = 30


def waits(ground, seconds):
    """How long B waits for a status: the median and the 99th percentile, in seconds."""
    waited = Fork(call_on_a_grid, ground.socket, "Monitor.Status", {}, seconds, user=B).result(seconds + 20)["waited"]
    return quantile(waited, 0.5), quantile(waited, 0.99)


def notice(ground):
    """After how long B hears of a change of routes."""
    with ground.client(B, patience=8) as b:
        b.send("Monitor.Watch", more=True, target="198.51.100.9")
        b.receive()
        ip("route", "add", "blackhole", "198.51.100.9/32")
        began = time.monotonic()
        b.receive()
        took = time.monotonic() - began
    ip("route", "del", "blackhole", "198.51.100.9/32")
    return took


@attack("a disk that answers after 30 s", f"the state is on a file system in user space, which answers nothing that a disk does for {HELD} s, while a "
        "route changes and users add requests", "status and notices come as ever, what was confirmed is there after a kill, and the queue goes on "
        "by itself when the disk answers")
def late_disk(ground):
    mark, real = ground.directory / "held", ground.directory / "real"
    ground.state.rename(real)
    ground.state.mkdir()
    fuse.mounted(ground, ground.state, fuse.Passing(real, mark).serve)
    journal = ground.server(well)
    ground.start()
    with ground.client(B) as b:
        confirmed = [b.add(ADD_URL, **WAITS) for _ in range(5)]
        idle = waits(ground, 1)
        mark.touch()
        began = time.monotonic()
        b.send("Queue.Add", url=f"http://{WELL}/held")
        time.sleep(0.2)
        with ground.client(A) as a:
            a.send("Queue.Add", url=ADD_URL, **WAITS)
            during, heard = waits(ground, 3), notice(ground)
            time.sleep(max(0, began + HELD - time.monotonic()))
            mark.unlink()
            answered, outcomes = time.monotonic(), []
            for client in (b, a):
                client.socket.settimeout(20)
                try:
                    outcomes.append(client.receive()["receipt"]["id"])
                except Refused as refused:
                    outcomes.append(refused.error)
            took = time.monotonic() - answered
        # What was refused because the disk failed to answer may be added again.
        deadline, again = time.monotonic() + 35, None
        while again is None and time.monotonic() < deadline:
            with contextlib.suppress(Refused):
                again = b.add(f"http://{WELL}/again")
        arrived = journal.wait(lambda line: line.get("path") == "/again", 10)
    ground.kill()
    ground.start()
    with ground.client(0) as root:
        found = {request["id"] for request in root.queue("List", states=["waiting", "backoff", "running", "done", "dead"])["requests"]}
    lost = [number for number in [*confirmed, *outcomes, again] if isinstance(number, int) and number not in found]
    seen = f"B waits {1000 * during[0]:.1f}/{1000 * during[1]:.1f} ms for a status (before {1000 * idle[0]:.1f}/{1000 * idle[1]:.1f}), and " \
           f"{1000 * heard:.0f} ms for a notice; what was added meanwhile: {', '.join(map(str, outcomes))} {took:.1f} s after the disk answers; " \
           f"{len(lost)} lost"
    if lost:
        raise Failure(seen)
    if during[1] > max(FLOOR, 5 * idle[1]) or heard > 0.25 or arrived is None:
        raise Late(seen)
    return seen


class Silent:
    """A file system with one file, which can be opened. Nothing else is answered."""

    def serve(self, device):
        attributes = struct.pack("<6Q10I", 2, 4096, 8, *[0] * 6, 0o100644, 1, A, A, 0, 4096, 0)
        root = struct.pack("<6Q10I", 1, 0, 0, *[0] * 6, 0o40755, 2, A, A, 0, 4096, 0)
        answers = {
            fuse.LOOKUP: struct.pack("<QQQQII", 2, 0, 3600, 3600, 0, 0) + attributes, fuse.OPEN: struct.pack("<QII", 1, 0, 0),
            fuse.INIT: struct.pack("<IIIIHHIIHHI7I", 7, 31, 0, 0, 64, 48, 4096, 1, 1, 0, 0, *[0] * 7),
            fuse.OPENDIR: bytes(16)}
        while True:
            request = os.read(device, 1 << 20)
            _, operation, unique, node = struct.unpack_from("<IIQQ", request)
            answer = answers.get(operation)
            if operation == fuse.GETATTR:
                answer = struct.pack("<QII", 3600, 0, 0) + (root if node == 1 else attributes)
            if answer is not None:
                os.write(device, struct.pack("<IiQ", 16 + len(answer), 0, unique) + answer)


def pass_silent_files(path, file, count, report):
    """Descriptors of such a file, several with a message, and with halves of messages; reports how many calls were refused."""
    refused = 0
    with Client(path, 20) as client:
        for number in range(count):
            descriptors = [os.open(file, os.O_RDWR) for _ in range(1 + number % 20)]
            call = json.dumps({"method": "io.reach.Queue.Upload", "parameters": {"memory": True}}).encode() + b"\0"
            socket.send_fds(client.socket, [call[:10]], descriptors)
            client.socket.sendall(call[10:])
            with contextlib.suppress(Refused):
                client.receive()
                refused -= 1
            refused += 1
    # Nobody reads these: they go with the connection.
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        socket.send_fds(connection, [b"{"], [os.open(file, os.O_RDWR)])
    Path(report).with_suffix(".new").write_text(str(refused))
    Path(report).with_suffix(".new").rename(report)
    # Its own end waits for the file system.
    time.sleep(600)


@attack("descriptors of a silent file system", "A mounts a file system that answers no read and no close, and sends 200 messages with descriptors of its file",
        "none is received, and B is served meanwhile", measures=True)
def silent_descriptors(ground):
    place = ground._directory("silent", 0o755, A)
    fuse.mounted(ground, place, Silent().serve, owner=A, options="")
    ground.start()
    before, report = len(os.listdir(f"/proc/{ground.daemon.pid}/fd")), ground.public / "refused"
    ground.attack(pass_silent_files, ground.socket, str(place / "file"), 200, str(report))
    ground.measure(2)
    deadline = time.monotonic() + 20
    while not report.exists():
        if time.monotonic() > deadline:
            raise Late("A is not done within 20 s")
        time.sleep(0.02)
    refused = int(report.read_text())
    ground.must_live()
    count = len(os.listdir(f"/proc/{ground.daemon.pid}/fd"))
    seen = f"{refused} of 200 refused, {count} descriptors open, {before} before"
    if refused != 200 or count > before + 20:
        raise Failure(seen)
    return seen
