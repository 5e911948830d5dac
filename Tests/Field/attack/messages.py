"""What is sent of texts that somebody else chose: by the hook `notify`, by mail, to systemd's journal."""

import contextlib
import email
import email.policy
import html
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import time
import unicodedata
from pathlib import Path

from ground import A, ADD, DAEMON, WELL, Client, Failure, Fork, Late, Refused
from namespaces import ip
from programs import ROOT
from servers import Journal, Reader
from table import attack

HOOKS = ROOT / "contrib/hooks"
#: Names as a host of a fleet may have them.
NAMES = [
    "<!channel>", "<https://a/|b>", "a&amp;b", "@room", "*b* _i_ `c` ~s~", "\"quoted\"", "back\\slash\\u0041\\", "--help", "-e", "$(touch x)",
    "`touch x`", "%s%n%99999d", "=?utf-8?B?QkNDOg==?=", "Bcc: x@y", ".", "gr\u00f6\u00dfe", "\u65e5\u672c\u8a9e", "\U0001f4a3\U0001f4a3",
    "a\u0301\u202eb", "</a><script>",
]
#: The last of 400 bytes may be half of a character of the name.
LONG = "x" * 386
FORMS = {"slack": "/s", "matrix": "/m", "telegram": "/t", "gotify": "/g", "pushover": "/p"}
SETTINGS = f"""MAIL_TO=a@example.org MAIL_FROM=r@example.org MAIL_BY=hook
SLACK_URL=http://{WELL}/s MATRIX_URL=http://{WELL}/m TELEGRAM_URL=http://{WELL}/t TELEGRAM_CHAT=1 GOTIFY_URL=http://{WELL}/g
PUSHOVER_URL=http://{WELL}/p PUSHOVER_TOKEN=t PUSHOVER_USER=u
"""


def takes(connection, journal, number):
    """Writes down each body whole."""
    reader = Reader(connection)
    while request := reader.next():
        line, headers, body = request
        journal.write(path=line.split(" ")[1], type=dict(headers).get("Content-Type"), body=body.decode("latin-1"))
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def faults_of(form, text, name):
    """What is wrong with a body, by the rules of its form."""
    try:
        body = json.loads(text.encode("latin-1").decode())
    except ValueError as error:
        return [str(error)]
    allowed = {
        "slack": {"text"}, "matrix": {"msgtype", "m.mentions", "body"}, "telegram": {"chat_id", "text"},
        "gotify": {"title", "message", "priority"}, "pushover": {"token", "user", "title", "message", "priority"},
    }[form]
    faults = [f"the keys {sorted(body)}"] * (set(body) != allowed)
    shown = {"slack": "text", "matrix": "body", "telegram": "text", "gotify": "title", "pushover": "title"}[form]
    said = body[shown]
    if form == "slack":
        if any(mark in said for mark in "<>") or said.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "").count("&"):
            faults.append("markup")
        said = html.unescape(said)
    if form == "matrix" and (body["msgtype"], body["m.mentions"]) != ("m.text", {}):
        faults.append("mentions")
    if form == "pushover" and (len(body["title"]) > 250 or len(body["message"]) > 1024):
        faults.append("its length")
    if form == "telegram" and len(said) > 4096:
        faults.append("its length")
    # A long one is cut: to 400 bytes, and for Pushover the title to 250.
    cut = name.encode()[:200].decode(errors="ignore")
    if (name if len(name) < 200 else cut) not in said:
        faults.append(f"the name is {said[:60]!r}")
    return faults + [f"a control character in {form}"] * any(unicodedata.category(each) == "Cc" for each in "".join(map(str, body.values())))


def faults_of_mail(content, name):
    message = email.message_from_bytes(content, policy=email.policy.default)
    faults = [f"{header}: {len(message.get_all(header, []))} times" for header in ("To", "From", "Subject", "Date") if len(message.get_all(header, [])) != 1]
    faults += [header for header in ("Bcc", "Cc", "Reply-To") if header in message]
    if message["To"] != "a@example.org" or message["From"] != "r@example.org" or any(len(line) > 998 for line in content.split(b"\n")):
        faults.append("its head")
    said = str(message["Subject"]).partition("] ")[2]
    if not said.startswith(name.encode()[:200].decode(errors="ignore")) or message.get_content_type() != "text/plain":
        faults.append(f"the subject {said[:60]!r}")
    message.get_content().encode()
    return faults


def number_of(content):
    """Of the name that a mail is about: what is encoded in it may say any number."""
    found = re.search(r"\bn(\d\d)", str(email.message_from_bytes(content, policy=email.policy.default)["Subject"]))
    return found and int(found[1])


def notify(place, socket, name, number):
    environment = {
        "PATH": f"{place}:/usr/bin:/bin", "REACH_SOCKET": str(socket), "REACH_NOTIFY_CONF": f"{place}/notify.conf", "REACH_NOTIFY_STATE": f"{place}/state",
        "REACH_EVENT": "fleet-alert", "REACH_ALERT": name, "REACH_ALERT_EVENT": "down", "REACH_SENTENCE": f"{name} is silent",
        "REACH_TIME": f"2026-11-21T03:10:{number:02}Z", "LANG": "C.UTF-8"}
    done = subprocess.run([f"{place}/notify"], env=environment, input=b"{}", capture_output=True, timeout=30, check=False)
    return [done.returncode, done.stderr.decode(errors="replace")[-200:]]


def notify_all(place, socket, names, first):
    os.chdir(place)
    return [notify(place, socket, name, first + number) for number, name in enumerate(names)]


@attack("names in messages", f"the hook notify tells of {len(NAMES)} hosts of a fleet, with short and long names such as {NAMES[0]}, {NAMES[9]} and {NAMES[13]}, by "
        f"mail, {', '.join(FORMS)}", "each message keeps to the rules of its form and has the name as it is; no name is run")
def names_in_messages(ground):
    place = ground._directory("hook", 0o755, DAEMON)
    for file in ("notify", "send-mail"):
        shutil.copy(HOOKS / file, place / file)
        (place / file).chmod(0o755)
    shutil.copy(ground.options.reach, place / "reach")
    (place / "sendmail").write_text(f"#!/bin/sh\nexec cat >\"$(mktemp {place}/state/sent.XXXXXX)\"\n")
    (place / "sendmail").chmod(0o755)
    (place / "notify.conf").write_text(f"SENDMAIL={place}/sendmail SEND_MAIL={place}/send-mail\n{SETTINGS}")
    journal: Journal = ground.server(takes)
    ground.start()
    # Every other name is long, and cut. Each says which one it is.
    names = [f"n{number:02}{LONG}{name}" if number % 2 else f"{name} n{number:02}" for number, name in enumerate(NAMES)]
    forks = [Fork(notify_all, place, ground.socket, names[first:first + 5], first, user=DAEMON) for first in range(0, len(names), 5)]
    ground.processes += forks
    ends = [end for fork in forks for end in fork.result(38)]
    wrong = [f"{name[-20:]}: ends with {code}: {text}" for name, (code, text) in zip(names, ends) if code]
    bodies = {form: [line for line in journal.read() if line.get("path", "").startswith(path)] for form, path in FORMS.items()}
    mails = [path.read_bytes() for path in (place / "state").glob("sent.*")]
    for number, name in enumerate(names):
        for form, lines in bodies.items():
            found = [line["body"] for line in lines if f"n{number:02}" in line["body"]]
            wrong += [f"{form}: {text}" for body in found for text in faults_of(form, body, name)]
            wrong += [f"{form}: {len(found)} of {name[-20:]}"] * (len(found) > 1)
        wrong += [f"mail: {text}" for content in mails if number_of(content) == number for text in faults_of_mail(content, name)]
    wrong += ["mail: a subject without its name" for content in mails if number_of(content) is None]
    run = [path.name for path in (*place.rglob("x"), *Path("/").glob("x"))]
    seen = f"{len(mails)} mails, {', '.join(f'{len(lines)} by {form}' for form, lines in bodies.items())}; {len(wrong)} wrong, {len(run)} run"
    if wrong or run:
        raise Failure(f"{seen}: {wrong[:3]}")
    if len(mails) != len(NAMES) or any(len(lines) != len(NAMES) for lines in bodies.values()):
        raise Late(seen)
    return seen


# ---------------------------------------------------------------- systemd's journal

#: In texts of A's, of a server and of a hook: what would be fields of their own.
FORGED = "x\nPRIORITY=0\n_UID=0\nMESSAGE=forged\nREACH_FORGED\n\x05\0\0\0\0\0\0\0"


def fields_of(datagram):
    """The fields of a message, as journald reads them."""
    fields, rest = [], datagram
    while rest:
        line, _, after = rest.partition(b"\n")
        if b"=" in line:
            name, _, value = line.partition(b"=")
        else:
            name, size = line, struct.unpack("<Q", after[:8])[0]
            value, after = after[8:8 + size], after[8 + size + 1:]
        fields.append((name.decode("latin-1"), value))
        rest = after
    return fields


def answers_with_lines(connection, journal, number):
    """An error whose head has what would be lines of a log."""
    if Reader(connection).next():
        connection.sendall(f"HTTP/1.1 400 {FORGED!r}\r\nContent-Type: {'x' * 5000}\r\nContent-Length: 2\r\n\r\nno".encode("latin-1", "replace"))


def say_lines(path):
    """Calls, names and requests with such texts; how many were accepted."""
    accepted = 0
    for user_text in (FORGED, FORGED.replace("\n", "\r"), FORGED.replace("\n", "\u2028"), "x" * 1000 + "=" + FORGED):
        for method, parameters in (("Monitor.Status", {"target": user_text}), ("Monitor.Watch", {"target": user_text}), (user_text, {}),
                                   ("Monitor.Journal", {"log": user_text}), *(("Queue.Add", {**ADD, key: user_text}) for key in ("key", "order", "idempotency_key", "proxy")),
                                   ("Queue.Add", {"url": f"http://{WELL}/dies", "key": user_text}), ("Queue.Add", {"url": f"http://{WELL}/{user_text}"})):
            with contextlib.suppress(Refused, Failure, OSError), Client(path) as client:
                client.call(method, **parameters)
                accepted += 1
    with Client(path) as client:
        client.wait(client.add(f"http://{WELL}/dies"))
    return accepted


@attack("fields of systemd's journal", "A's calls and requests, a server's answers and a hook's output have lines such as PRIORITY=0, _UID=0 and MESSAGE=, and a "
        "hook prints a million bytes; the daemon logs all that it can to a journal", "each message is one of the daemon's, with its own fields alone, each once, and one line of text",
        configuration='log_level = "debug"\n[hooks]\nevents = ["change", "request-dead"]\n')
def journal_fields(ground):
    ground.server(answers_with_lines)
    hooks = ground.etc / "hooks.d"
    hooks.mkdir()
    (ground.public / "forged").write_text(FORGED + "\n")
    (hooks / "loud").write_text(f"#!/bin/sh\ncat {ground.public}/forged\nhead -c 1000000 /dev/zero | tr '\\0' x >&2\nexit 3\n")
    (hooks / "loud").chmod(0o755)
    place = Path("/run/systemd/journal")
    place.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        (place / "socket").unlink()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journal:
        journal.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        journal.bind(str(place / "socket"))
        os.chmod(place / "socket", 0o666)
        journal.setblocking(False)
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        status = os.fstat(its.fileno())
        ground.errors, ground.environment = its.fileno(), {"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"}
        ground.start(ground.configuration_text)
        accepted = Fork(say_lines, str(ground.socket), user=A)
        ground.processes.append(accepted)
        accepted = accepted.result(30)
        ip("route", "del", "default")
        time.sleep(3)
        messages = []
        with contextlib.suppress(BlockingIOError):
            while True:
                messages.append(fields_of(journal.recv(1 << 20)))
        ground.must_live()
        ours.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            lines = ours.recv(1 << 22)
            messages += [[("MESSAGE", line)] for line in lines.splitlines()]
        for one in (ours, its):
            one.close()
    wrong = []
    for message in messages:
        names = [name for name, _ in message]
        strange = [name for name in names if name not in ("MESSAGE", "PRIORITY", "SYSLOG_IDENTIFIER", "MESSAGE_ID") and not re.fullmatch(r"REACH_[A-Z0-9_]{1,58}", name)]
        said = dict(message).get("MESSAGE", b"")
        if strange or len(set(names)) != len(names) or "REACH_FORGED" in names or re.search(rb"[\0-\x1f\x7f]", said) or not said:
            wrong.append(str(message)[:200])
    texts = sum(b"PRIORITY=0" in value for message in messages for _, value in message)
    seen = f"{accepted} accepted; {len(messages)} messages, {texts} with such a text; {len(wrong)} wrong"
    if wrong:
        raise Failure(f"{seen}: {wrong[:2]}")
    if not texts:
        raise Failure(f"{seen}: nothing was tried")
    return seen
