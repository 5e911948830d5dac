"""Network namespaces and the links between them: for all that plays with a network."""

import contextlib
import json
import os
import subprocess
import time
from pathlib import Path

from programs import libc, output_of, prepare_child, run, system_call

CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
MS_REC, MS_PRIVATE = 1 << 14, 1 << 18
MNT_DETACH = 2

# The cable of most machines here.
LINK, PEER_LINK = "r0", "p0"
ADDRESS, GATEWAY, ELSEWHERE = "192.0.2.2/24", "192.0.2.1", "203.0.113.10"


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
def coming_back():
    """Whatever network this thread enters meanwhile, it is in its own again at the end."""
    here = this_namespace()
    try:
        yield
    finally:
        system_call("setns", here, CLONE_NEWNET)
        os.close(here)


@contextlib.contextmanager
def inside(namespace):
    with coming_back():
        system_call("setns", namespace, CLONE_NEWNET)
        yield


def ip(*arguments):
    run("ip", *arguments)


def run_in(namespace, *command):
    with inside(namespace):
        run(*command)


def bind(path, content, directory):
    """Mounts a file with this text over another, for this process and its children."""
    place = Path(directory) / path.strip("/").replace("/", "-")
    place.write_text(content)
    place.chmod(0o644)
    target = os.path.realpath(path)
    # The file that an earlier scene mounted there is gone, and nothing can be mounted on it.
    subprocess.run(["umount", "--lazy", target], stderr=subprocess.DEVNULL)
    run("mount", "--bind", place, target)
    return place


@contextlib.contextmanager
def own_sysfs():
    """/sys shows the network of the process that mounted it. If it cannot be mounted, the old one stays."""
    is_mounted = libc.mount(b"sysfs", b"/sys", b"sysfs", 0, None) == 0
    try:
        yield
    finally:
        if is_mounted:
            libc.umount2(b"/sys", MNT_DETACH)


def be_quiet(**more):
    """Nothing happens by itself here: no router solicitations, and no duplicate address detection."""
    for key, value in {"accept_dad": 0, "accept_ra": 0, **more}.items():
        for name in ("default", "all"):
            with contextlib.suppress(OSError):
                Path(f"/proc/sys/net/ipv6/conf/{name}/{key}").write_text(str(value))


def new_namespace(is_quiet=True, **more):
    """Moves this process into a new namespace, and returns it."""
    system_call("unshare", CLONE_NEWNET)
    ip("link", "set", "lo", "up")
    if is_quiet:
        be_quiet(**more)
    return this_namespace()


def namespace_with(prepare):
    """A new namespace in which `prepare` was called. This process stays where it is."""
    with coming_back():
        namespace = new_namespace()
        prepare()
        return namespace


def enter(namespace):
    """In a child: into a network, with the /sys that shows it where that can be mounted."""
    prepare_child()
    libc.setns(namespace, CLONE_NEWNET)
    if libc.unshare(CLONE_NEWNS) == 0 and libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) == 0:
        libc.mount(b"sysfs", b"/sys", b"sysfs", 0, None)


def wire(near, name, near_addresses, far, far_name, far_addresses):
    """A veth pair between two namespaces."""
    with inside(near):
        ip("link", "add", name, "type", "veth", "peer", "name", far_name, "netns", f"/proc/{os.getpid()}/fd/{far}")
    for namespace, link, addresses in ((near, name, near_addresses), (far, far_name, far_addresses)):
        with inside(namespace):
            for address in addresses:
                ip("address", "add", address, "dev", link)
            ip("link", "set", link, "up")


def lay_cable(far=None):
    """A link with an address and a default route here; its other end is the gateway's in a namespace, or leads nowhere."""
    # Indexes unequal on purpose: with equal ones the kernel delays the loss of carrier by up to a second (linkwatch).
    ip("link", "add", LINK, "index", "100", "type", "veth", "peer", "name", PEER_LINK, "index", "200")
    if far is None:
        ip("link", "set", PEER_LINK, "up")
    else:
        ip("link", "set", PEER_LINK, "netns", f"/proc/{os.getpid()}/fd/{far}")
        with inside(far):
            ip("address", "add", f"{GATEWAY}/24", "dev", PEER_LINK)
            ip("link", "set", PEER_LINK, "up")
    ip("address", "add", ADDRESS, "dev", LINK)
    ip("link", "set", LINK, "up")
    ip("route", "add", "default", "via", GATEWAY, "dev", LINK)


@contextlib.contextmanager
def network(own_mounts, is_quiet=False, **more):
    """Moves this process into a new namespace with a cable and a default route; yields the far end's namespace.

    Neither namespace has a name: an open file holds the far one, and this process the near one. The kernel removes both
    with the last process in them, however it ends.
    """
    with coming_back(), contextlib.ExitStack() as stack:
        far = new_namespace(is_quiet, **more)
        stack.callback(os.close, far)
        os.close(new_namespace(is_quiet, **more))
        if own_mounts:
            stack.enter_context(own_sysfs())
        lay_cable(far)
        if not is_quiet:
            await_addresses()
        yield far


def await_addresses():
    """Waits for the duplicate detection of the link-local addresses, which takes a second or two and sends notices."""
    for _ in range(50):
        time.sleep(0.1)
        if not output_of("ip", "-6", "address", "show", "tentative"):
            return


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
