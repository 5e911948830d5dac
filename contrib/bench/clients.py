"""Sessions and queue beside what else sends HTTP: curl, async-http-client and FoundationNetworking's URLSession (`peers`)."""

import resource
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from measuring import median, memory_kib, network, prepare_child, print_table, shown, started
from senders import BASES, PORT, SERVER, SINK, by_curl, by_program, by_queue, obey, place

SWIFT = {"session": "sessiondrain", "async-http-client": "ahcdrain", "URLSession": "urlsessiondrain"}


def swift_programs(bench):
    """Those of the Swift programs that were built."""
    places = {"session": Path(bench.session)} | {
        name: Path(bench.options.peers) / SWIFT[name] for name in ("async-http-client", "URLSession")}
    for name, program in places.items():
        if not program.exists():
            print(f"{name} is left out: {program} is not there")
    return {name: str(program) for name, program in places.items() if program.exists()}


def in_turns(names, rounds, measure):
    """Each once in every round, in an order that rotates, so that a busy moment of the machine affects all."""
    figures, names = {name: [] for name in names}, list(names)
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            figures[name].append(measure(name))
    return figures


def middle(figures, key):
    return {name: median([row[key] for row in rows]) for name, rows in figures.items()}


def compare(bench, section, middles, unit, allowed=1):
    """Reach's figure, of which less is better, may be at most that of the better Swift client."""
    others = [middles[name] for name in ("async-http-client", "URLSession") if name in middles]
    if others:
        bench.report.check(f"{section}: session's {unit} to the better Swift client's", middles["session"] / min(others), allowed)


def clients(bench):
    """Many small GETs by each client, over HTTP/1.1, TLS and HTTP/2."""
    options, count, programs, result = bench.options, bench.options.requests, swift_programs(bench), {}
    with place(bench) as web:
        for protocol in options.protocols:
            base = BASES[protocol]
            for concurrency in options.at_once:
                def measure(name):
                    if name == "curl":
                        row = by_curl(bench, web, concurrency, count, base)
                    elif name.startswith("queue"):
                        row = by_queue(bench, web, "memory" if name == "queue" else "disk", concurrency, count, base)
                    else:
                        row = by_program(bench, web, [programs[name], "workers", str(count), str(concurrency), f"{base}/?n="], count)
                    return {**row, "us": 1e6 / row["rate"], "protocol": max(web.protocols, key=web.protocols.get)}

                names = ["curl", "queue", *(["queue on disk"] if protocol == "HTTP/1.1" else []), *programs]
                figures = in_turns(names, options.rounds, measure)
                times, used = middle(figures, "us"), middle(figures, "cpu_us")
                print_table(f"{count} small GETs over {protocol}, {concurrency} at a time, {options.rounds} rounds",
                            ["", "spoken", "requests/s", "of curl", "CPU us/request", "of curl"],
                            [[name, figures[name][0]["protocol"], shown(1e6 / times[name], 0), shown(times["curl"] / times[name], 2),
                              shown(used[name]), shown(used["curl"] / used[name], 2)] for name in names])
                section = f"{protocol}, {concurrency} at a time"
                compare(bench, section, times, "time")
                compare(bench, section, used, "CPU time")
                result[section] = figures
    return result


def files(bench):
    """A large file, down and up."""
    programs, result = swift_programs(bench), {}
    large, here = bench.directory / "large", bench.directory / "here"
    with open(large, "wb") as file:
        file.truncate(bench.options.file << 20)
    with place(bench), started([sys.executable, "-c", SINK, SERVER, str(PORT + 2)], bench.server_processor,
                               stdout=subprocess.PIPE, text=True) as sink:
        sink.stdout.readline()
        web, up = BASES["HTTP/1.1"], f"http://{SERVER}:{PORT + 2}/file"
        for way in ("down", "up"):
            def measure(name):
                here.unlink(missing_ok=True)
                if name == "curl":
                    return whole(bench, ["curl", "-sf", "-o", str(here), web + "/large"] if way == "down"
                                 else ["curl", "-sf", "-o", "/dev/null", "-T", str(large), up])
                return obey(bench, [programs[name], "get", web + "/large", str(here), web + "/"] if way == "down"
                            else [programs[name], "put", str(large), up, web + "/"])

            figures = in_turns(["curl", *programs], bench.options.rounds, measure)
            result[way] = figures
            times, used = middle(figures, "seconds"), middle(figures, "cpu_seconds")
            print_table(f"{bench.options.file} MiB {way}, {bench.options.rounds} rounds",
                        ["", "MiB/s", "of curl", "CPU s", "of curl"],
                        [[name, shown(bench.options.file / times[name], 0), shown(times["curl"] / times[name], 2), shown(used[name], 2),
                          shown(used["curl"] / used[name], 2)] for name in figures])
            compare(bench, f"{bench.options.file} MiB {way}", used, "CPU time")
    large.unlink()
    here.unlink(missing_ok=True)
    return result


def whole(bench, argv):
    """The time of a whole program."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   preexec_fn=lambda: prepare_child(bench.client_processor))
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - begun
    return {"seconds": seconds, "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def first(bench):
    """A program that makes one request and ends, from its start to its end."""
    programs, url = swift_programs(bench), BASES["HTTP/1.1"] + "/"
    with place(bench):
        figures = in_turns(["curl", *programs], 10 * bench.options.rounds, lambda name: whole(
            bench, ["curl", "-sf", url] if name == "curl" else [programs[name], "first", url]))
    times, used = middle(figures, "seconds"), middle(figures, "cpu_seconds")
    print_table(f"A program that makes one request, {10 * bench.options.rounds} rounds", ["", "ms", "CPU ms"],
                [[name, shown(1000 * times[name]), shown(1000 * used[name])] for name in figures])
    compare(bench, "first request", used, "CPU time")
    return figures


def tasks(bench):
    """Requests that wait for a server that never answers: the memory that they take."""
    programs, count = swift_programs(bench), bench.options.requests

    def measure(name):
        with started([programs[name], "waiting", str(count), "8", f"http://{SERVER}:{PORT + 1}/"], bench.client_processor,
                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            process.stdout.readline()
            before = memory_kib(process)["dirty_kib"]
            process.stdin.write("go\n")
            process.stdin.flush()
            process.stdout.readline()
            time.sleep(2)
            return {"kib": memory_kib(process)["dirty_kib"] - before}

    with network(bench.own_mounts), socket.create_server((SERVER, PORT + 1), backlog=4096) as listener:
        threading.Thread(target=hold, args=[listener], daemon=True).start()
        figures = in_turns(programs, bench.options.rounds, measure)
        # Wakes the thread.
        listener.shutdown(socket.SHUT_RDWR)
    kib = middle(figures, "kib")
    print_table(f"{count} requests, 8 at a time, to a server that does not answer", ["", "private dirty MiB", "bytes each"],
                [[name, shown(kib[name] / 1024), shown(1024 * kib[name] / count, 0)] for name in figures])
    compare(bench, "waiting tasks", kib, "memory")
    return figures


def hold(listener):
    """Accepts connections, and neither reads nor answers."""
    held = []
    try:
        while True:
            held.append(listener.accept())
    except OSError:
        for connection, _ in held:
            connection.close()
