"""The certificate authority whom tests trust, made with openssl."""

from pathlib import Path

from programs import run

CONFIGURATION = """[ca]
default_ca = it
[it]
new_certs_dir = {0}
database = {0}/index.txt
serial = {0}/serial
default_md = sha256
unique_subject = no
policy = any
[any]
commonName = supplied
"""


class Authority:
    def __init__(self, directory):
        self.directory = Path(directory) / "certificates"
        self.directory.mkdir()
        (self.directory / "index.txt").touch()
        (self.directory / "serial").write_text("1000\n")
        self.configuration = self.directory / "ca.cnf"
        self.configuration.write_text(CONFIGURATION.format(self.directory))
        self.root, self.root_key = self.directory / "root.pem", self.directory / "root.key"
        self._key(self.root_key)
        run("openssl", "req", "-x509", "-new", "-key", self.root_key, "-days", 3650, "-subj", "/CN=Tests",
            "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign", "-out", self.root, capture_output=True)

    def issue(self, name, hosts, start="20200101000000Z", end="20490101000000Z"):
        """Makes a certificate; returns the files of the certificate and of its key."""
        certificate, key = self.directory / f"{name}.pem", self.directory / f"{name}.key"
        self._key(key)
        request, extension = self.directory / f"{name}.csr", self.directory / f"{name}.ext"
        extension.write_text("subjectAltName=" + ",".join(f"{'IP' if host[0].isdigit() else 'DNS'}:{host}" for host in hosts) + "\n")
        run("openssl", "req", "-new", "-key", key, "-subj", f"/CN={name}", "-out", request, capture_output=True)
        run("openssl", "ca", "-batch", "-notext", "-config", self.configuration, "-cert", self.root, "-keyfile",
            self.root_key, "-startdate", start, "-enddate", end, "-extfile", extension, "-in", request, "-out",
            certificate, capture_output=True)
        return certificate, key

    @staticmethod
    def _key(path):
        run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-out", path,
            capture_output=True)
