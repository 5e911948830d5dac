"""Real servers of HTTP/2 that end connections and are reloaded, and the program behind them that counts what was processed."""

import os
import shutil
import signal
import subprocess
from collections import Counter

from answers import await_listener, nginx
from certificates import Authority
from namespaces import GATEWAY, bind, inside
from programs import PATH, Program

PORT, BEHIND = 443, 8080
# Of a connection, where the server has a limit for it; and of its streams at a time.
REQUESTS_EACH, STREAMS = 10, 4
TRUSTED = "/etc/ssl/certs/ca-certificates.crt"


class Server:
    """One program in front of the counting one, with HTTP/2, and how it is reloaded."""

    def __init__(self, directory, far, identity):
        self.directory, self.far, (self.certificate, self.key) = directory, far, identity
        directory.mkdir()
        self.running = self.make()

    def make(self):
        return Program(self.directory / "log", shutil.which(self.program, path=PATH), *self.arguments(), cwd=self.directory,
                       env={**os.environ, "PATH": PATH, "HOME": str(self.directory)})

    def write(self, name, text):
        (self.directory / name).write_text(text)
        return str(self.directory / name)

    def start(self):
        with inside(self.far):
            self.running.start()
        await_listener(GATEWAY, PORT)

    def reload(self):
        self.running.signal(signal.SIGHUP)

    def stop(self):
        self.running.stop()


class Nginx(Server):
    program, more = "nginx", ""

    def make(self):
        return nginx(self.directory, f"""
              keepalive_requests {REQUESTS_EACH}; http2_max_concurrent_streams {STREAMS}; {self.more}
              server {{ listen {GATEWAY}:{PORT} ssl http2; ssl_certificate {self.certificate}; ssl_certificate_key {self.key};
                location / {{ proxy_pass http://{GATEWAY}:{BEHIND}; }} }}""")


class NginxWithoutRoom(Nginx):
    """Refuses each request with a body until the client has acknowledged the connection's settings."""
    more = "http2_body_preread_size 0;"


class Haproxy(Server):
    program = "haproxy"

    def arguments(self):
        d = self.directory
        self.write("pem", self.certificate.read_text() + self.key.read_text())
        return ["-W", "-f", self.write("conf", f"""
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
        self.running.signal(signal.SIGUSR2)


class Apache(Server):
    program = "apache2"

    def arguments(self):
        d, modules = self.directory, "/usr/lib/apache2/modules"
        names = ["mpm_event", "authz_core", "ssl", "http2", "proxy", "proxy_http", "socache_shmcb"]
        loads = "\n".join(f"LoadModule {name}_module {modules}/mod_{name}.so" for name in names)
        return ["-D", "FOREGROUND", "-d", str(d), "-f", self.write("conf", f"""
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
SSLCertificateFile {self.certificate}
SSLCertificateKeyFile {self.key}
ProxyPass / http://{GATEWAY}:{BEHIND}/
""")]

    def reload(self):
        self.running.signal(signal.SIGUSR1)


class H2o(Server):
    program = "h2o"

    def arguments(self):
        d = self.directory
        return ["-m", "master", "-c", self.write("conf", f"""
pid-file: {d}/pid
error-log: {d}/errors
http2-max-concurrent-requests-per-connection: {STREAMS}
http2-graceful-shutdown-timeout: 5
listen:
  host: {GATEWAY}
  port: {PORT}
  ssl:
    certificate-file: {self.certificate}
    key-file: {self.key}
hosts:
  default:
    paths:
      /:
        proxy.reverse.url: http://{GATEWAY}:{BEHIND}/
""")]


class Caddy(Server):
    program = "caddy"

    def arguments(self):
        d = self.directory
        file = self.write("Caddyfile", f"""{{
    admin unix/{d}/admin
    auto_https off
    grace_period 5s
}}
https://{GATEWAY}:{PORT} {{
    tls {self.certificate} {self.key}
    reverse_proxy {GATEWAY}:{BEHIND}
}}
""")
        return ["run", "--adapter", "caddyfile", "--config", file]

    def reload(self):
        subprocess.run(
            [shutil.which("caddy", path=PATH), "reload", "--force", "--adapter", "caddyfile", "--config", str(self.directory / "Caddyfile"),
             "--address", f"unix/{self.directory}/admin"], capture_output=True, env={**os.environ, "HOME": str(self.directory)})


SERVERS = {server.program: server for server in (Nginx, Haproxy, Apache, H2o, Caddy)} | {"nginx-0": NginxWithoutRoom}


class Behind:
    """The nginx behind all of them, which logs each POST that it read to its end."""

    def __init__(self, directory, far):
        self.log = directory / "processed"
        self.program = nginx(directory, f"""
            keepalive_requests 100000000; log_format uri '$request_uri'; map $upstream_status $is_whole {{ 200 1; default 0; }}
            server {{ listen unix:{directory}/inner; return 200 "ok"; }}
            server {{ listen {GATEWAY}:{BEHIND}; location / {{ proxy_pass http://unix:{directory}/inner;
              proxy_ignore_client_abort on; access_log {self.log} uri if=$is_whole; }} }}""", "master_process off;")
        with inside(far):
            self.program.start()
        await_listener(GATEWAY, BEHIND)

    def read(self):
        return Counter(self.log.read_text().split())

    def clear(self):
        os.truncate(self.log, 0)


def prepare(directory):
    """The certificate and the key of the servers. In this process's own mounts: the daemon trusts what the machine trusts."""
    authority = Authority(directory)
    bind(TRUSTED, authority.root.read_text(), directory)
    return authority.issue("servers", [GATEWAY])
