"""What the machine's page and its report make of texts from outside, in a real browser whose policy reports what it stops."""

import http.server
import json
import re
import shutil
import socket
import subprocess
import time

import browser
from ground import WELL, Failure, Fork, Late, Skip, add_many
from hostile import PORTAL, portal
from namespaces import ip
from servers import Journal, says
from surroundings import forged
from table import attack

#: A script that would say that it ran, in each place in which a text may stand.
TEXTS = [
    "<script>taken=1</script>", "</title></style></script><script>taken=1</script>", "\"><img src=x onerror=taken=1>", "' onmouseover='taken=1",
    "<svg onload=taken=1>", "<a href=\"javascript:taken=1\">x</a>", "<style>*{background:url(//203.0.113.99/x)}</style>",
    "<base href=//203.0.113.99/>", "<meta http-equiv=refresh content=0;url=//203.0.113.99/>", "<iframe srcdoc=<script>top.taken=1</script>>",
    "<!--", "]]><script>taken=1</script>", "&lt;script&gt;", "\u2028taken=1//", "\u202e\u2066<b>", "\x1b]0;taken\x07", "{{taken}}${taken}",
    "<form action=//203.0.113.99/><input autofocus onfocus=taken=1>", "<math><mi xlink:href=javascript:taken=1>", "\\u003cscript\\u003etaken=1",
]
#: As names of links, which have at most 15 bytes, and neither blanks nor slashes.
LINKS = ["<script>", "\"><svg", "'onload=taken", "&lt;b&gt;", "<!--"]
PROBE, TARGET = "abcdefghijklmno", "pqrstuvwxyzabcd"
CONFIGURATION = PORTAL + f"""
[page]
directory = "@/page"
[targets]
{TARGET} = "{WELL}"
[[probe]]
name = "{PROBE}"
target = "http://{WELL}:8080/"
interval = "1s"
json = '$.x == "good"'
[[probe]]
name = "banner"
target = "tcp://{WELL}:2525"
interval = "1s"
[[probe]]
name = "line"
target = "http://{WELL}:8081/"
interval = "1s"
"""
#: What must be true in a page.
MUST = {
    "no script ran": "!window.taken",
    "no element has a handler": "![...document.querySelectorAll('*')].some((each) => [...each.attributes].some((of) => of.name.startsWith('on')))",
    "nothing leads elsewhere": "![...document.querySelectorAll('a[href]')].some((each) => !/^(https?|file):$/.test(each.protocol))",
    "nothing is loaded, sent or moved": "!document.querySelector('img,iframe,object,embed,form,base,input,meta[http-equiv=refresh],svg[onload]')",
}


class Site(http.server.BaseHTTPRequestHandler):
    """Each page with its own policy once more, as a header, so that what it stops is reported."""
    pages, journal = {}, None

    def do_GET(self):
        text = self.pages.get(self.path)
        self.journal.write(path=self.path)
        if text is None:
            return self.send_error(404)
        policy = re.search(rb'Content-Security-Policy" content="([^"]*)"', text)
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Security-Policy", f"{policy[1].decode()}; report-uri /stopped")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_POST(self):
        self.journal.write(stopped=self.rfile.read(int(self.headers["Content-Length"])).decode(errors="replace")[:300])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def serve_pages(listener, pages, journal):
    Site.pages, Site.journal = pages, journal
    server = http.server.ThreadingHTTPServer(listener.getsockname(), Site, bind_and_activate=False)
    server.socket = listener
    server.serve_forever()


def machine_page(ground):
    """The page of a daemon whose links, portal and servers are hostile, and its state."""
    for number, name in enumerate(LINKS):
        ip("link", "add", name, "type", "veth", "peer", "name", f"q{number}")
        ip("link", "property", "add", "dev", name, "altname", f"alternative-{name}-of-many-letters")
        ip("link", "set", name, "up")
        ip("link", "set", f"q{number}", "up")
    ground.server(portal(b'http://203.0.113.99/"><script>taken=1</script>?' + TEXTS[2].encode()), "203.0.113.99")
    body = json.dumps({"x": "".join(TEXTS)}).encode()
    ground.server(says(*[b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body] * 50), port=8080)
    ground.server(says(*[b"HTTP/1.1 500 <script>taken=1</script>\r\nContent-Length: 0\r\n\r\n"] * 50), port=8081)
    ground.server(says(TEXTS[0].encode(), first=True), port=2525)
    ground.start(CONFIGURATION.replace("@", str(ground.runtime)))
    ground.attack(add_many, ground.socket, [f"http://{WELL}:8081/{number}" for number in range(20)])
    for state in ("down", "up") * 3:
        ip("link", "set", "r0", state)
        time.sleep(0.7)
    ip("route", "replace", "default", "via", "192.0.2.1", "dev", "r0")
    page, deadline = ground.runtime / "page" / "index.html", time.monotonic() + 10
    while not (page.exists() and "&lt;script&gt;" in page.read_text()) and time.monotonic() < deadline:
        time.sleep(0.2)
    if not page.exists():
        raise Late("there is no page within 10 s")
    return page.read_bytes()


def report(ground, text):
    """The report of a state in whose records each name is this text."""
    place = ground.directory / "forged"
    shutil.copytree(ground.state, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.lock", "queue"))
    name = json.dumps(text, ensure_ascii=False)[1:-1]
    for file in [place / "history.jsonl", *(place / "journal").glob("*.jsonl")]:
        if file.exists():
            file.write_text(forged(file, {TARGET: name, PROBE: name, '"r0"': f'"{name}"'}))
    done = subprocess.run([ground.options.reach, "report", "--html", "--state", str(place), "--title", text, "--customer", text],
                          capture_output=True, timeout=20, check=False)
    if done.returncode != 0 or b"<html" not in done.stdout:
        raise Failure(f"reach report ends with {done.returncode}: {done.stderr.decode(errors='replace')[-200:]}")
    return done.stdout


@attack("pages in a browser", f"links, a portal, servers and the records of a history have {len(TEXTS)} texts that would run a script or load something; the "
        "page and a report for each are opened in Chromium, with a policy that reports", "nothing runs, nothing is loaded, and nothing has to be stopped")
def pages_in_a_browser(ground):
    if not browser.find():
        raise Skip("there is no Chromium")
    pages = {"/page": machine_page(ground), **{f"/report-{number}": report(ground, text) for number, text in enumerate(TEXTS)}}
    # It shows that what is stopped is reported.
    pages["/control"] = pages["/page"].replace(b"</main>", b"<script>taken=1</script></main>")
    listener = socket.create_server(("127.0.0.1", 8000), backlog=64)
    journal = Journal(ground.directory / "site")
    ground.processes.append(Fork(serve_pages, listener, pages, journal))
    listener.close()
    wrong = []
    with browser.Browser(host="127.0.0.1") as page:
        for path in pages:
            page.open(f"http://127.0.0.1:8000{path}", f"location.pathname == '{path}' && document.readyState == 'complete'")
            if path == "/control":
                stopped = journal.wait(lambda line: "stopped" in line, 5)
                continue
            is_report = path != "/page"
            text = TEXTS[int(path.rpartition("-")[2])] if is_report else LINKS[0]
            wrong += [f"{path}: not so: {what}" for what, expression in MUST.items() if not page.evaluate(expression)]
            # What would do harm to a terminal is shown in another way.
            if text.isascii() and text.isprintable() and not page.evaluate(f"document.body.textContent.includes({json.dumps(text)})"):
                wrong.append(f"{path}: the text is not there as it is")
            if page.evaluate("document.querySelectorAll('script').length") != (not is_report):
                wrong.append(f"{path}: scripts")
            early = [line["stopped"] for line in journal.read() if "stopped" in line]
            wrong += [f"{path}: {text}" for text in [*early, *page.messages]]
            page.messages.clear()
    asked = {line["path"] for line in journal.read() if "path" in line} - set(pages)
    seen = f"{len(pages) - 1} pages; asked for beside them: {', '.join(sorted(asked)) or 'nothing'}; what has to be stopped is " \
           f"{'reported' if stopped else 'NOT reported'}"
    if wrong or asked or not stopped:
        raise Failure(f"{seen}: {wrong[:3]}")
    return seen
