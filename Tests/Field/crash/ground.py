"""Real servers of HTTP/2 that end connections and are reloaded, and the program behind them that counts what was processed."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections import Counter
from pathlib import Path

from measuring import GATEWAY, inside, prepare_child

PORT, BEHIND = 443, 8080
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
# Of a connection, where the server has a limit for it; and of its streams at a time.
REQUESTS_EACH, STREAMS = 10, 4


def await_listener(port):
    deadline = time.monotonic() + 15
    while True:
        with contextlib.suppress(OSError):
            return socket.create_connection((GATEWAY, port), timeout=1).close()
        if time.monotonic() > deadline:
            raise RuntimeError(f"nothing listens on port {port}")
        time.sleep(0.05)


class Server:
    """One program in front of the counting one, with HTTP/2, and how it is reloaded."""

    def __init__(self, directory, far):
        self.directory, self.far, self.process = directory, far, None
        directory.mkdir()
        shutil.copy(directory.parent / "certificate", directory)
        shutil.copy(directory.parent / "key", directory)

    def write(self, name, text):
        (self.directory / name).write_text(text)
        return str(self.directory / name)

    def start(self):
        with inside(self.far), open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=lambda: prepare_child(None),
                cwd=self.directory, env={**os.environ, "PATH": PATH, "HOME": str(self.directory)})
        await_listener(PORT)

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Nginx(Server):
    program, more = "nginx", ""

    def command(self):
        d = self.directory
        paths = "".join(f"{kind}_temp_path {d}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        return [shutil.which("nginx", path=PATH), "-p", str(d), "-c", self.write("conf", f"""
            daemon off; pid {d}/pid; error_log stderr error; worker_processes 1; events {{ worker_connections 4096; }}
            http {{ {paths} access_log off; keepalive_requests {REQUESTS_EACH};
              http2_max_concurrent_streams {STREAMS}; {self.more}
              server {{ listen {GATEWAY}:{PORT} ssl http2; ssl_certificate {d}/certificate; ssl_certificate_key {d}/key;
                location / {{ proxy_pass http://{GATEWAY}:{BEHIND}; }} }} }}""")]


class NginxWithoutRoom(Nginx):
    """Refuses each request with a body until the client has acknowledged the connection's settings."""
    more = "http2_body_preread_size 0;"


class Haproxy(Server):
    program = "haproxy"

    def command(self):
        d = self.directory
        self.write("pem", (d / "certificate").read_text() + (d / "key").read_text())
        return [shutil.which("haproxy", path=PATH), "-W", "-f", self.write("conf", f"""
global
    tune.h2.max-concurrent-streams {STREAMS}
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
frontend f
    bind {GATEWAY}:{PORT} ssl crt {d}/pem alpn h2,http/1.1
    default_backend b
backend b
    server s {GATEWAY}:{BEHIND}
""")]

    def reload(self):
        self.process.send_signal(signal.SIGUSR2)


class Apache(Server):
    program = "apache2"

    def command(self):
        d, modules = self.directory, "/usr/lib/apache2/modules"
        names = ["mpm_event", "authz_core", "ssl", "http2", "proxy", "proxy_http", "socache_shmcb"]
        loads = "\n".join(f"LoadModule {name}_module {modules}/mod_{name}.so" for name in names)
        return [shutil.which("apache2", path=PATH), "-D", "FOREGROUND", "-d", str(d), "-f", self.write("conf", f"""
ServerName localhost
ServerRoot {d}
PidFile {d}/pid
ErrorLog {d}/errors
{loads}
Listen {GATEWAY}:{PORT}
Protocols h2 http/1.1
MaxKeepAliveRequests {REQUESTS_EACH}
H2MaxSessionStreams {STREAMS}
GracefulShutdownTimeout 10
SSLEngine on
SSLCertificateFile {d}/certificate
SSLCertificateKeyFile {d}/key
ProxyPass / http://{GATEWAY}:{BEHIND}/
""")]

    def reload(self):
        self.process.send_signal(signal.SIGUSR1)


class H2o(Server):
    program = "h2o"

    def command(self):
        d = self.directory
        return [shutil.which("h2o", path=PATH), "-m", "master", "-c", self.write("conf", f"""
pid-file: {d}/pid
error-log: {d}/errors
http2-max-concurrent-requests-per-connection: {STREAMS}
http2-graceful-shutdown-timeout: 5
listen:
  host: {GATEWAY}
  port: {PORT}
  ssl:
    certificate-file: {d}/certificate
    key-file: {d}/key
hosts:
  default:
    paths:
      /:
        proxy.reverse.url: http://{GATEWAY}:{BEHIND}/
""")]


class Caddy(Server):
    program = "caddy"

    def command(self):
        d = self.directory
        file = self.write("Caddyfile", f"""{{
    admin unix/{d}/admin
    auto_https off
    grace_period 5s
}}
https://{GATEWAY}:{PORT} {{
    tls {d}/certificate {d}/key
    reverse_proxy {GATEWAY}:{BEHIND}
}}
""")
        self.caddy = shutil.which("caddy", path=PATH)
        return [self.caddy, "run", "--adapter", "caddyfile", "--config", file]

    def reload(self):
        subprocess.run(
            [self.caddy, "reload", "--force", "--adapter", "caddyfile", "--config", str(self.directory / "Caddyfile"),
             "--address", f"unix/{self.directory}/admin"], capture_output=True, env={**os.environ, "HOME": str(self.directory)})


SERVERS = {server.program: server for server in (Nginx, Haproxy, Apache, H2o, Caddy)} | {"nginx-0": NginxWithoutRoom}


class Behind:
    """The nginx behind all of them, which logs each POST that it read to its end."""

    def __init__(self, directory, far):
        self.log = directory / "processed"
        paths = "".join(f"{kind}_temp_path {directory}/behind-{kind};"
                        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (directory / "behind").write_text(f"""
            daemon off; master_process off; pid {directory}/behind-pid; error_log stderr error; worker_rlimit_nofile 8192;
            events {{ worker_connections 4096; }}
            http {{ {paths} access_log off; keepalive_requests 100000000; log_format uri '$request_uri';
              map $upstream_status $is_whole {{ 200 1; default 0; }}
              server {{ listen unix:{directory}/inner; return 200 "ok"; }}
              server {{ listen {GATEWAY}:{BEHIND}; location / {{ proxy_pass http://unix:{directory}/inner;
                proxy_ignore_client_abort on; access_log {self.log} uri if=$is_whole; }} }} }}""")
        with inside(far):
            self.process = subprocess.Popen(
                [shutil.which("nginx", path=PATH), "-p", str(directory), "-c", str(directory / "behind")],
                preexec_fn=lambda: prepare_child(None))
        await_listener(BEHIND)

    def read(self):
        return Counter(self.log.read_text().split())

    def clear(self):
        os.truncate(self.log, 0)


def prepare(directory):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=servers", "-addext", f"subjectAltName=IP:{GATEWAY}", "-keyout", directory / "key",
         "-out", directory / "certificate"], check=True, capture_output=True)
    # In this process's own mounts: the daemon trusts what the machine trusts.
    trusted = Path("/etc/ssl/certs/ca-certificates.crt")
    (directory / "trusted").write_text((directory / "certificate").read_text())
    subprocess.run(["mount", "--bind", directory / "trusted", trusted], check=True)
