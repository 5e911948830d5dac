"""What a process costs, and tables of such figures."""

import math
import re
import sys
import time
from pathlib import Path


def cpu_ns(process):
    """CPU time of all threads, including those that ended, in nanoseconds (the clock of clock_getcpuclockid(3))."""
    return time.clock_gettime_ns((~process.pid << 3) | 2)


def memory_kib(process):
    """Private dirty pages and anonymous ones cannot be given back; clean pages of a file belong to the page cache, mapped or not."""
    wanted = {"Rss": "rss_kib", "Pss": "pss_kib", "Private_Dirty": "dirty_kib", "Anonymous": "anonymous_kib"}
    found = {}
    for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()[1:]:
        key, value = line.split(":")
        if key in wanted:
            found[wanted[key]] = int(value.split()[0])
    return found


def memory_mib(pid, key="VmRSS"):
    """By the process's status; 0 of one that has ended."""
    found = re.search(rf"^{key}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.M)
    return int(found[1]) / 1024 if found else 0


def switches(process, kinds=("voluntary", "nonvoluntary")):
    """Of each thread, by its number. The voluntary ones are wake-ups: what is preempted has not woken."""
    return {task.name: sum(int(line.split()[1]) for line in (task / "status").read_text().splitlines()
                           if "_ctxt_switches" in line and line.startswith(kinds))
            for task in Path(f"/proc/{process.pid}/task").iterdir()}


def quantile(values, part):
    """The nearest-rank quantile of a list that is not empty."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)]


def median(values):
    return quantile(values, 0.5)


def print_table(title, header, rows):
    cells = [header] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    print(f"\n{title}")
    for row in cells:
        first = row[0].ljust(widths[0])
        print("  " + "  ".join([first] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]))
    sys.stdout.flush()
