"""Measures `reach` and `reachd` on hosts with thousands of links, as container hosts and hypervisors have, that come and go."""

import contextlib
import subprocess
import threading
import time

from daemon import await_answer, reachd
from measuring import (ELSEWHERE, PEER_LINK, await_addresses, await_listening, cpu_ns, inside, ip, median, network, one_shots,
                       print_table, ratio, settle, shown, started)


def batch(lines):
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines) + "\n", text=True, check=True)


def add_pairs(links):
    """Adds so many links in pairs, all up: each has a link-local address, as the ports of containers have."""
    names = [(f"v{number}", f"w{number}") for number in range(links // 2)]
    batch([f"link add {one} type veth peer name {other}" for one, other in names])
    batch([f"link set {name} up" for pair in names for name in pair])
    await_addresses()


def containers(count, first=0):
    """Lines for `ip -batch`: containers that are started and ended, one after another, on a bridge of their own."""
    lines = []
    for number in range(first, first + count):
        one, other = f"c{number}", f"d{number}"
        lines += [f"link add {one} type veth peer name {other}", f"link set {one} master br0", f"link set {one} up",
                  f"link set {other} up", f"address add 198.51.100.2/24 dev {other}", f"link del {one}"]
    return lines


class Churn:
    """Containers that come and go all the time, in a thread, until the end of the block."""

    def __enter__(self):
        self.is_over = False
        self.cycles = 0
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self):
        # The thread is in the namespace of the one that started it.
        with subprocess.Popen(["ip", "-batch", "-"], stdin=subprocess.PIPE, text=True) as process:
            while not self.is_over:
                # With names of their own: ip remembers which index a name had.
                process.stdin.write("\n".join(containers(20, first=self.cycles)) + "\n")
                process.stdin.flush()
                self.cycles += 20
            process.stdin.close()

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()


def one_shot(bench, argv, turns):
    """The median time and the median CPU time of a process, from its start until it has ended, in ms."""
    times, costs, codes = one_shots({"": argv}, turns)[""]
    return {"ms": median(times), "cpu_ms": median(costs), "exit": sorted(codes)}


def flap_cost(far, process, flaps):
    """CPU time of the daemon for a loss and a return of the default link's carrier, in ms; the median of several."""
    costs = []
    for flap in range(flaps + 1):
        before = cpu_ns(process)
        for state in ("down", "up"):
            with inside(far):
                ip("link", "set", PEER_LINK, state)
            settle(process, quiet=0.1)
        if flap:  # the first one maps the code of a change
            costs.append((cpu_ns(process) - before) / 1e6)
    return median(costs)


@contextlib.contextmanager
def observing(bench):
    with started(reachd(bench), bench.processors[1], stderr=subprocess.DEVNULL) as process:
        await_answer(bench, process)
        await_listening(process)
        yield process


def first_state(bench, limit=10):
    """Seconds from the start of a daemon until it says that the Internet is reachable."""
    begun = time.monotonic()
    with started(reachd(bench), bench.processors[1], stderr=subprocess.DEVNULL) as process:
        while time.monotonic() - begun < limit:
            if await_answer(bench, process)["parameters"]["status"]["status"] == "reachable":
                return time.monotonic() - begun
            time.sleep(0.01)
    return None


def one_host(bench, links):
    status = [bench.reach, "status"]
    with network(bench.own_mounts) as far:
        add_pairs(links)
        batch(["link add br0 type bridge", "link set br0 up"])
        found = {"status": one_shot(bench, status, bench.size(40, 10)),
                 "ip": one_shot(bench, ["/bin/ip", "route", "get", ELSEWHERE], bench.size(40, 10))}
        with observing(bench) as process:
            found["flap_cpu_ms"] = flap_cost(far, process, bench.size(12, 4))
            before = cpu_ns(process)
            batch(containers(100))
            settle(process)
            found["containers_cpu_ms"] = (cpu_ns(process) - before) / 1e6
        with Churn() as churn:
            codes = [subprocess.run(status, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
                     for _ in range(20)]
            found["answers"] = codes.count(0)
            found["observes_s"] = first_state(bench)
        found["cycles"] = churn.cycles
    return found


def links(bench):
    """An answer, a flap of the default link, containers that come and go: all must cost the same on hosts of every size."""
    result = {count: one_host(bench, count) for count in bench.size([10, 500, 2000, 4000], [10, 500])}
    print_table(
        "Hosts with many links",
        ["links", "status ms", "CPU ms", "ip ms", "flap CPU ms", "100 containers", "answers of 20", "daemon observes s"],
        [[count, shown(row["status"]["ms"], 2), shown(row["status"]["cpu_ms"], 2), shown(row["ip"]["ms"], 2),
          shown(row["flap_cpu_ms"], 2), shown(row["containers_cpu_ms"]), row["answers"], shown(row["observes_s"], 2)]
         for count, row in result.items()])
    few, many = result[min(result)], result[max(result)]
    check = bench.report.check
    check(f"links: status, {min(result)} to {max(result)} links", ratio(many["status"]["ms"], few["status"]["ms"]), 1.5)
    check(f"links: CPU time of a flap, {min(result)} to {max(result)} links",
          ratio(many["flap_cpu_ms"], few["flap_cpu_ms"]), 1.5)
    check("links: CPU ms of 100 containers", max(row["containers_cpu_ms"] for row in result.values()), 80)
    check("links: answers missing while containers come and go", sum(20 - row["answers"] for row in result.values()), 0, 0)
    check("links: seconds until a daemon observes meanwhile",
          None if any(row["observes_s"] is None for row in result.values()) else
          max(row["observes_s"] for row in result.values()), 8)
    bench.report.curve("links", "An answer, and a flap of the default link", "links of the host", "ms", {
        "reach status": [(count, row["status"]["ms"]) for count, row in result.items()],
        "ip route get": [(count, row["ip"]["ms"]) for count, row in result.items()],
        "CPU time of a flap": [(count, row["flap_cpu_ms"]) for count, row in result.items()]})
    return result
