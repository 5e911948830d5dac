"""What each mouth says of a target in one moment of the walk, and whether they agree with each other and with the wire."""

import contextlib
import json
import re
import socket
import subprocess
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import walkservices
import walkworld
from namespaces import bind
from programs import started, wait_for
from reachd import Reachd
from walkworld import FAR, FAR6

TARGETS = {"far": FAR, "far6": FAR6, "e0": "interface:e0", "internet": "internet"}
METRICS = 9191

CONFIGURATION = f"""
[hold]
flaps = "0s"
[connectivity]
{{connectivity_proxy}}
endpoints = ["{walkservices.CHECK}"]
interval = "10s"
timeout = "3s"
demote_after = 1
[queue]
{{queue_proxy}}
[page]
directory = "{{page}}"
[metrics]
listen = "127.0.0.1:{METRICS}"
[hooks]
directory = "{{hooks}}"
[targets]
far = "{FAR}"
far6 = "{FAR6}"
e0 = "interface:e0"
"""

# The words of the page for what the checks can find: as the history, it knows no state between used and not.
PAGE_WORDS = {"full": {"up"}, "portal": {"down"}, "limited": {"down"}, "none": {"down"}}
# The page begins a second after a change, at most every five, and its thread takes what others leave of the processors.
PAGE_PATIENCE = 20

HOOK = """#!/bin/sh
echo "$REACH_TARGET|$REACH_STATUS|$REACH_REASON|$REACH_ROOT_CAUSE|$REACH_ROOT_INTERFACE|$REACH_CONNECTIVITY" >> {lines}
"""


def brief(state):
    """The part of a state on which all must agree."""
    words = [state.get(key) for key in ("status", "reason", "root_cause", "root_interface", "interface")]
    for family in ("ipv4", "ipv6"):
        path = state.get(family) or {}
        words.append(tuple(path.get(key) for key in ("status", "reason", "interface", "source", "gateway")))
    return tuple(words)


class Watch:
    """A program that prints a state whenever it changes."""

    def __init__(self, stack, command):
        self.process = stack.enter_context(started(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))
        self.last, self.at = None, time.monotonic()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            with contextlib.suppress(ValueError):
                event = json.loads(line)
                if isinstance(event.get("status"), dict):
                    self.last = event["status"]
                self.at = time.monotonic()


class Mouths:
    """`reachd` and `reach watch` in the current namespace, and one-shot commands of every kind."""

    def __init__(self, options):
        self.reach, self.reachd = options.reach, options.reach + "d"
        self.place = walkworld.directory()
        self.requests, self.unknowable, self.proxied = 0, 0, options.proxied
        self.lines = self.place / "lines"
        self.lines.touch()
        hooks = self.place / "hooks"
        hooks.mkdir()
        self.page = self.place / "page"
        self.page.mkdir()
        bind("/etc/resolv.conf", f"nameserver {walkservices.NAMES}\noptions timeout:1 attempts:2\n", self.place)
        (hooks / "hook").write_text(HOOK.format(lines=self.lines))
        (hooks / "hook").chmod(0o755)
        proxy = f'proxy = "{walkservices.PROXY}"' if options.proxied else ""
        self.daemon = Reachd(self.reachd, self.place, CONFIGURATION.format(
            hooks=hooks, page=self.page, connectivity_proxy=proxy,
            queue_proxy=proxy and f'{proxy}\nno_proxy = ["{FAR}"]'))
        # For commands without the daemon, which read the policy of links and the proxy there.
        subprocess.run(["mount", "--bind", str(self.place), "/etc/reach"], check=True)
        self.stack = contextlib.ExitStack()
        self.daemon.start()
        self.daemon.await_answer(20)
        # Where the daemon is looked for: explain --probe asks it what it has proved, and takes no other socket.
        standard = Path("/run/reach/reach.sock")
        standard.parent.mkdir(exist_ok=True)
        standard.unlink(missing_ok=True)
        standard.symlink_to(self.daemon.socket)
        self.watches = {name: Watch(self.stack, [self.reach, "watch", "--no-daemon", "--json", target])
                        for name, target in TARGETS.items()}
        wait_for(lambda: all(watch.last for watch in self.watches.values()), "each watch says something", 20, 0.02)
        # A thread is in the namespace of the thread that started it.
        self.pool = self.stack.enter_context(ThreadPoolExecutor(4))

    def close(self):
        self.daemon.stop()
        self.stack.close()

    def call(self, *arguments):
        return subprocess.run([self.reach, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)

    def one(self, *arguments):
        lines = self.call(*arguments).stdout.splitlines()
        with contextlib.suppress(ValueError, IndexError):
            return json.loads(lines[0])
        return None

    def settle(self):
        """Waits until nothing is on its way: the kernel asks no neighbour, and no watch has printed for a while."""
        deadline = time.monotonic() + 15
        time.sleep(0.3)
        while time.monotonic() < deadline:
            quiet = time.monotonic() - max(watch.at for watch in self.watches.values())
            if quiet > 0.4 and not walkworld.unsettled():
                return
            time.sleep(0.1)

    # ------------------------------------------------------------ the mouths

    def ask(self, name):
        """What each mouth says of a target."""
        target, to = TARGETS[name], ("--socket", self.daemon.socket)
        asked = {
            "daemon": ("status", "--json", *to, target), "explain": ("explain", "--json", *to, target),
            "status": ("status", "--json", "--no-daemon", target), "fresh explain": ("explain", "--json", "--no-daemon", target),
        }
        answers = dict(zip(asked, self.pool.map(lambda words: self.one(*words) or {}, asked.values())))
        answers["watch"] = self.watches[name].last or {}
        return answers

    def history(self, name):
        done = self.call("history", "--json", "--state", self.place / "state")
        states = [line for line in map(json.loads, done.stdout.splitlines())
                  if "status" in line and line.get("target") in (name, TARGETS[name])]
        return states[-1] if states else None

    def hook(self, name):
        lines = [line.split("|") for line in self.lines.read_text().splitlines()]
        lines = [line for line in lines if line[0] in (name, TARGETS[name])]
        return lines[-1][1:] if lines else None

    @staticmethod
    def metrics():
        with contextlib.suppress(OSError):
            with urllib.request.urlopen(f"http://127.0.0.1:{METRICS}/metrics", timeout=5) as answer:
                return answer.read().decode()
        return ""

    def metric(self):
        """Whether each target is reachable, by the metrics."""
        found = re.finditer(r'^reach_target_status\{target="([^"]*)",status="reachable"\} (\d)', self.metrics(), re.M)
        return {m[1]: int(m[2]) for m in found}

    # ------------------------------------------------------------ the comparison

    def queue(self, world, state):
        """What is wrong with a request to the far host: it is done at once by the link that the status names. If that is not reachable,
        it waits or takes another link that has a default route."""
        self.requests += 1
        path = f"/{self.requests}"
        to = ("--socket", self.daemon.socket)
        number = self.call("queue", "add", *to, f"http://{FAR}{path}").stdout.split()[-1:]
        if not number:
            return ["queue: the request is not added"]
        deadline = time.monotonic() + (8 if state.get("status") == "reachable" else 1)
        request = {}
        while time.monotonic() < deadline and request.get("state") not in ("done", "dead"):
            time.sleep(0.1)
            request = self.one("queue", "show", "--json", *to, number[0]) or {}
        explained = self.one("queue", "explain", "--json", *to, number[0]) if request.get("state") != "done" else None
        self.call("queue", "cancel", *to, number[0])
        links = [link for asked, link in world.asked if asked == path]
        if state.get("status") == "reachable":
            if request.get("state") != "done":
                return [f"queue: by the status {FAR} is reachable, and the request is {request.get('state')}: {explained}"]
            return self.unless_by_proof(links, state.get("interface"))
        if request.get("state") == "dead" or state.get("ipv4", {}).get("interface") in links:
            return [f"queue: by the status {FAR} is not reachable, and the request is {request.get('state')}, sent by {links}"]
        return []

    def unless_by_proof(self, links, own):
        """What is wrong with the links that a request was sent by. Another default route that is proved is taken where that of the host
        itself is known not to lead to the Internet."""
        if links == [own]:
            return []
        proofs = self.proofs_by_link()
        if proofs.get(own) in ("limited", "portal", "none") and [proofs.get(link) for link in links] == ["full"]:
            return []
        return [f"queue: sent by {links}, the status names {own}; proved: {proofs}"]

    def wait(self, name, state):
        """What is wrong with how `reach wait` ends: it waits exactly if the target is not reachable."""
        if state.get("reason") in ("gateway-unreachable", "neighbour-unreachable"):
            return []  # It asks the neighbour again.
        done = self.call("wait", "--no-daemon", "--timeout", "300ms", TARGETS[name]).returncode
        expected = 0 if state.get("status") == "reachable" else 124
        return [] if done == expected else [f"{name}: wait ends with {done}, the daemon says {brief(state)}"]

    def disagreements(self, sends, world):
        """Sentences, each a difference between mouths, or between them and the wire.

        - Parameter sends: Whether a packet is sent first, by which the kernel finds out about neighbours.
        """
        wire = {name: walkworld.answers(TARGETS[name]) for name in ("far", "far6")} if sends else {}
        if sends:
            self.settle()
        found, facts, metrics = [], walkworld.link_facts(), self.metric()
        for name in TARGETS:
            said = self.ask(name)
            found += self.compare(name, said, facts)
            daemon = said["daemon"]
            if name in wire and self.may_lack_answers(daemon) and not wire[name]:
                self.unknowable += 1
            elif name in wire and (daemon.get("status") == "reachable") != wire[name]:
                found.append(f"{name}: the wire {'answers' if wire[name] else 'is silent'}, and the daemon says {brief(daemon)}")
            if name in metrics and metrics[name] != (daemon.get("status") == "reachable"):
                found.append(f"{name}: metrics say {metrics[name]}, the daemon {daemon.get('status')}")
            if sends:
                found += self.wait(name, daemon)
                # What leads nowhere with a source that may be translated is found out by the queue, and then avoided.
                is_lost = self.may_lack_answers(daemon) and not wire.get(name)
                if name == "far" and not found and not is_lost and world.services_work():
                    found += self.queue(world, daemon)
        return found or self.proofs(sends, world)

    # ------------------------------------------------------------ what is proved of the Internet

    def state(self):
        return self.one("status", "--json", "--socket", self.daemon.socket, "internet") or {}

    def proofs(self, sends, world):
        """What is wrong with what the mouths say of the Internet, compared with a program that fetches the page by the same link.

        - Parameter sends: Whether the long ways are gone, too: a request that waits for a proof, and `explain --probe`.
        """
        deadline = time.monotonic() + 30
        while True:
            state = self.state()
            path = state.get("ipv4") or {}
            link = path.get("interface") if path.get("status") == "reachable" else None
            true = walkservices.truth(link, self.proxied)
            said = {"limited": "none"}.get(state.get("connectivity"), state.get("connectivity"))
            if said == true or time.monotonic() > deadline:
                break
            time.sleep(0.5)
        if said != true and (link is None and said == "unknown" or self.ask("far")["daemon"].get("status") != "reachable"):
            # This machine lets nothing out to the page, which has no IPv6: that says nothing of what is behind the path.
            self.unknowable += 1
            return []
        if said != true:
            return [f"internet: a program finds {true} by {link}, and the daemon says {state.get('connectivity')} of {brief(state)}"]
        found, proved = [], state["connectivity"]
        metric = re.search(r'^reach_target_connectivity\{target="internet",connectivity="(\w+)"\} 1', self.metrics(), re.M)
        past, hook = self.history("internet"), self.hook("internet")
        others = {
            "the metrics": metric and metric[1], "the history": past and past.get("connectivity"), "the hook": hook and hook[4],
            "explain": (self.one("explain", "--json", "--socket", self.daemon.socket, "internet") or {}).get("connectivity"),
            "links": self.proofs_by_link().get(state.get("interface")) if state.get("status") == "reachable" else None,
        }
        found += [f"internet: {mouth} says {word}, the daemon {proved}" for mouth, word in others.items() if word not in (None, proved)]
        waits = self.call("wait", "--socket", self.daemon.socket, "--until", "validated", "--timeout", "300ms").returncode
        if (waits == 0) != (proved == "full"):
            found.append(f"internet: wait --until validated ends with {waits}, the daemon says {proved}")
        page = self.page_word(PAGE_WORDS[proved])
        if page not in PAGE_WORDS[proved]:
            found.append(f"internet: the page says {page}, the daemon {proved} of {brief(state)}")
        return found + (self.long_ways(proved, link, world) if sends and not found else [])

    def page_word(self, wanted):
        """The page's word for the Internet, once it is one of those that are wanted or has had the time to be."""
        deadline = time.monotonic() + PAGE_PATIENCE
        while True:
            word = None
            with contextlib.suppress(OSError):
                word = re.search(r'<p class="now ([\w-]+)"', (self.page / "index.html").read_text())
            if word is not None and word[1] in wanted or time.monotonic() > deadline:
                return word and word[1]
            time.sleep(0.2)

    def proofs_by_link(self):
        lines = map(json.loads, self.call("links", "--json", "--socket", self.daemon.socket).stdout.splitlines())
        return {link["interface"]: link.get("connectivity") for link in lines}

    def validated(self, world):
        """What is wrong with a request that waits for a proof: it is asked of the path to its own host, or to its proxy, which is the
        same here. That may be by another link than the Internet's, by a route of its own."""
        self.requests += 1
        path, to = f"/{self.requests}", ("--socket", self.daemon.socket)
        state = self.one("status", "--json", *to, FAR) or {}
        link, before = state.get("interface"), self.proofs_by_link()
        is_proved = state.get("status") == "reachable" and before.get(link) == "full"
        number = self.call("queue", "add", *to, "--when", "validated", f"http://shop.example.net{path}").stdout.split()[-1:]
        if not number:
            return ["queue: the request --when validated is not added"]
        done = self.call("queue", "wait", *to, number[0], "--timeout", "8s" if is_proved else "1s").returncode == 0
        explained = None if done else self.one("queue", "explain", "--json", *to, number[0])
        self.call("queue", "cancel", *to, number[0])
        after = self.proofs_by_link()
        if is_proved and not done and after.get(link) == "full":
            return [f"queue: {link} to {FAR} is proved, and a request --when validated waits: {explained}"]
        # Where its own path is not proved, it may go by another default route that is.
        sent = [by for asked, by in world.asked if asked == path]
        return [f"queue: a request --when validated is sent by {by}, which is {before.get(by)}, {FAR} is reached by {link}"
                for by in sent if "full" not in (before.get(by), after.get(by))]

    def long_ways(self, proved, link, world):
        found = self.validated(world)
        if (self.one("status", "--json", "--no-daemon", FAR) or {}).get("interface") != link:
            return found  # The page itself has a way of its own, as any program that fetches it finds.
        told = self.call("explain", "--probe", "--json", "internet")
        lines = told.stdout.splitlines()
        asked = json.loads(lines[-1]) if lines else {}
        good = ("ok", "degraded", "unknown") if proved == "full" else ("degraded", "failed", "unknown")
        if asked.get("outcome") not in good:
            found.append(f"internet: explain --probe says {asked.get('outcome')} {asked.get('text') or told.stderr}, the daemon {proved}")
        return found

    def compare(self, name, said, facts):
        found = []

        def same(one, other, keys=slice(None)):
            if brief(said[one])[keys] != brief(said[other])[keys]:
                found.append(f"{name}: {one} says {brief(said[one])}, {other} {brief(said[other])}")

        same("daemon", "watch")
        same("daemon", "explain", slice(0, 4))
        same("status", "fresh explain", slice(0, 4))
        keys = [index for index in range(7) if index not in (2, 3)]
        if self.cannot_know(said["watch"], said["status"]):
            self.unknowable += 1
        elif [brief(said["status"])[i] for i in keys] != [brief(said["watch"])[i] for i in keys]:
            found.append(f"{name}: status says {brief(said['status'])}, watch {brief(said['watch'])}")
        elif not self.may_differ(said["watch"], said["status"], facts):
            found.append(f"{name}: watch says {brief(said['watch'])[2:4]}, a fresh status {brief(said['status'])[2:4]}")
        state, past, hook = said["daemon"], self.history(name), self.hook(name)
        now = [state.get(key) for key in ("status", "reason", "root_cause", "root_interface")]
        if past is not None and [past.get(key) for key in ("status", "reason", "root_cause", "root_interface")] != now:
            found.append(f"{name}: the history says {[past.get(k) for k in ('status', 'reason', 'root_cause')]}, the daemon {now}")
        if hook is not None and hook[:4] != [word or "" for word in now]:
            found.append(f"{name}: the hook had {hook}, the daemon says {now}")
        return found

    @staticmethod
    def may_lack_answers(state):
        """Whether nothing here shows if answers find the way back: an address that no router forwards is configured with a gateway, which
        may translate it, or the source is an address of another link."""
        path = state.get("ipv4") or {}
        if (path.get("source") or "").startswith("169.254.") and path.get("gateway") is not None:
            return True
        return any(path.get("source") and path["source"] not in walkworld.addresses(path.get("interface"))
                   for path in (state.get("ipv4") or {}, state.get("ipv6") or {}) if path.get("status") == "reachable")

    @staticmethod
    def cannot_know(watch, status):
        """Whether a watch saw when a gateway failed, and the kernel does not show whether that was after the carrier: a fresh status has
        to guess."""
        for family in ("ipv4", "ipv6"):
            seen, asked = watch.get(family) or {}, status.get(family) or {}
            link, reasons = seen.get("interface"), (seen.get("reason"), asked.get("reason"))
            if link != asked.get("interface") or reasons.count("gateway-unreachable") != 1:
                continue
            if seen.get("status") == "reachable" and walkworld.shows_carrier(link):
                continue  # The kernel has a trace of when the carrier came.
            if "reachable" in (seen.get("status"), asked.get("status")):
                return walkworld.carrier_changes(link) > 2
        return False

    @staticmethod
    def may_differ(watch, status, facts):
        """A watch knows which link carried the path before, where the kernel names none. What it says of that link is true now."""
        cause, link = watch.get("root_cause"), watch.get("root_interface")
        if (cause, link) == (status.get("root_cause"), status.get("root_interface")):
            return True
        if watch.get("reason") not in ("no-route", "no-interface") or link is None:
            return False
        fact = facts.get(link)
        if fact is None:
            return cause == "interface-gone"
        truth = {"link-down": not fact["up"], "no-carrier": fact["up"] and not fact["carrier"],
                 "no-address": fact["carrier"], "self-assigned-address": fact["carrier"],
                 "no-default-route": fact["carrier"] and fact["wide"], "interface-gone": False}
        return bool(truth.get(cause, False))

    def send(self):
        """A program sends, which makes the kernel ask for neighbours."""
        for family, address in ((socket.AF_INET, FAR), (socket.AF_INET6, FAR6)):
            with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as sender:
                sender.sendto(b"x", (address, 9))
        return True
