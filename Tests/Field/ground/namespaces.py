"""Network namespaces, the links between them, and programs in them: for all that plays with a network."""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import time
from pathlib import Path

CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
MS_REC, MS_PRIVATE = 1 << 14, 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None, use_errno=True)


def system_call(name, *arguments):
    if getattr(libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def leave_the_machine():
    """Gives this process its own network and mounts, so that it can touch no link of the machine, and no daemon answers."""
    system_call("unshare", CLONE_NEWNS | CLONE_NEWNET)
    # In a chroot, / may not be a mount point. Mounts made here would then be visible outside, so none are made.
    own_mounts = libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) == 0
    if own_mounts:
        system_call("mount", b"tmpfs", b"/run", b"tmpfs", 0, None)
    return own_mounts


def this_namespace():
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


@contextlib.contextmanager
def inside(namespace):
    here = this_namespace()
    system_call("setns", namespace, CLONE_NEWNET)
    try:
        yield
    finally:
        system_call("setns", here, CLONE_NEWNET)
        os.close(here)


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def now():
    """Seconds on the clock of boottime_ns."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, **options)


def output_of(*command):
    return run(*command, capture_output=True, text=True).stdout


def run_in(namespace, *command):
    with inside(namespace):
        run(*command)


def bind(path, content, directory):
    """Mounts a file with this text over another, for this process and its children."""
    place = Path(directory) / path.strip("/").replace("/", "-")
    place.write_text(content)
    target = os.path.realpath(path)
    # The file that an earlier scene mounted there is gone, and nothing can be mounted on it.
    subprocess.run(["umount", "--lazy", target], stderr=subprocess.DEVNULL)
    run("mount", "--bind", place, target)


def new_namespace():
    """Moves this process into a new namespace, and returns it."""
    system_call("unshare", CLONE_NEWNET)
    run("ip", "link", "set", "lo", "up")
    # Nothing happens by itself: no router solicitations, and no duplicate address detection.
    run("sysctl", "-qw", "net.ipv6.conf.default.accept_dad=0", "net.ipv6.conf.all.accept_dad=0",
        "net.ipv6.conf.default.accept_ra=0")
    return this_namespace()


def wire(near, name, near_addresses, far, far_name, far_addresses):
    """A veth pair between two namespaces."""
    with inside(near):
        run("ip", "link", "add", name, "type", "veth", "peer", "name", far_name, "netns", f"/proc/{os.getpid()}/fd/{far}")
    for namespace, link, addresses in ((near, name, near_addresses), (far, far_name, far_addresses)):
        with inside(namespace):
            for address in addresses:
                run("ip", "address", "add", address, "dev", link)
            run("ip", "link", "set", link, "up")


def count_packets(**rules):
    """Counts packets that leave this network by rules of nftables."""
    run("nft", "add table inet count; add chain inet count out { type filter hook output priority 0; }")
    for name, rule in rules.items():
        run("nft", f'add rule inet count out {rule} counter comment "{name}"')


def packets(name):
    """What a rule of `count_packets` has counted."""
    rules = json.loads(output_of("nft", "--json", "list", "chain", "inet", "count", "out"))["nftables"]
    found = next(entry["rule"] for entry in rules if entry.get("rule", {}).get("comment") == name)
    return next(part["counter"]["packets"] for part in found["expr"] if "counter" in part)


# ---------------------------------------------------------------- programs


def prepare_child(processor):
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if processor is not None:
        os.sched_setaffinity(0, {processor})


@contextlib.contextmanager
def started(argv, processor=None, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    process = subprocess.Popen(argv, preexec_fn=lambda: prepare_child(processor), **options)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
