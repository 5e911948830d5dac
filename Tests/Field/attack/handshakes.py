"""Servers whose handshakes are expensive for a client: the key exchange, the keys of certificates, and certificates without number."""

import math
import random
import ssl
import subprocess
import time
from pathlib import Path

from ground import A, WELL, Client, Failure, Late, Refused
from hostile import address_of, name_server
from servers import plain, record, well
from table import attack


NAME = "*.example.net"
#: In seconds of the processor: what one handshake may cost the daemon, all its steps together. A busy machine lets a handshake last
#: longer, and cost no more.
COSTLIEST = 0.1
SERVERS = range(8443, 8447)


def anything(name, kind, message, end):
    return [plain(message, end, [record(b"\xc0\x0c", 1, address_of(WELL))] if kind == 1 else [])]


def der(tag, *contents):
    content = b"".join(contents)
    length = len(content)
    if length < 128:
        return bytes([tag, length]) + content
    octets = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(octets)]) + octets + content


def integer(value):
    return der(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def pem(label, content):
    import base64
    text = base64.encodebytes(content).decode()
    return f"-----BEGIN {label}-----\n{text}-----END {label}-----\n"


class Kit:
    """A trusted authority, and what it signs by openssl."""

    def __init__(self, ground):
        self.authority = ground.trusted_authority()
        self.place = self.authority.directory

    def run(self, *arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, cwd=self.place)

    def key(self, name, *options):
        path = self.place / f"{name}.key"
        self.run("genpkey", "-out", path, *options)
        return path

    def sign(self, name, key, issuer, issuer_key, extensions, subject=None):
        """A certificate for a key; returns its file."""
        (self.place / "x.ext").write_text(extensions)
        self.run("req", "-new", "-key", key, "-subj", f"/CN={subject or name}", "-out", "x.csr")
        path = self.place / f"{name}.pem"
        self.run("x509", "-req", "-in", "x.csr", "-CA", issuer, "-CAkey", issuer_key, "-set_serial", random.randrange(1 << 60),
                 "-days", 3000, "-extfile", "x.ext", "-out", path)
        return path

    def leaf(self, key, issuer=None, issuer_key=None, names=NAME):
        return self.sign("leaf", key, issuer or self.authority.root, issuer_key or self.authority.root_key, f"subjectAltName=DNS:{names}\n")

    def context(self, certificate, key, *more):
        whole = self.place / "whole.pem"
        whole.write_text("".join(Path(each).read_text() for each in (certificate, *more)))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(whole, key)
        return context


def p256(kit):
    return kit.key("leaf", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1")


def started(ground, *options):
    """openssl's servers."""
    def serve(port):
        subprocess.run(["openssl", "s_server", "-accept", f"{WELL}:{port}", "-www", "-quiet", *map(str, options)],
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    for port in SERVERS:
        ground.far(serve, port)
    time.sleep(0.5)


def served(ground, context):
    for port in SERVERS:
        ground.server(well, port=port, context=context)


# ---------------------------------------------------------------- what is expensive


def finite_field(ground, kit):
    key = kit.key("leaf", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
    # The longest that OpenSSL takes. No one checks that it is prime.
    modulus = random.getrandbits(10000) | 1 << 9999 | 1
    (kit.place / "dh.pem").write_text(pem("DH PARAMETERS", der(0x30, integer(modulus), integer(2))))
    started(ground, "-cert", kit.leaf(key), "-key", key, "-dhparam", kit.place / "dh.pem", "-tls1_2", "-cipher", "DHE")


def named_field(ground, kit):
    key = p256(kit)
    # No one trusts it: the exchange comes before the certificate.
    kit.run("req", "-x509", "-key", key, "-subj", "/CN=nobody", "-days", 100, "-out", "own.pem")
    started(ground, "-cert", kit.place / "own.pem", "-key", key, "-tls1_3", "-groups", "ffdhe8192")


def heavy_key(kit, bits=3072):
    """A key of RSA whose public exponent is as long as its modulus, as OpenSSL takes them up to 3072 bits."""
    path = kit.key("usual", "-algorithm", "RSA", "-pkeyopt", f"rsa_keygen_bits:{bits}")
    kit.run("rsa", "-in", path, "-traditional", "-outform", "DER", "-out", "usual.der")
    numbers, content = [], (kit.place / "usual.der").read_bytes()
    place = 4
    while place < len(content):
        length, size = content[place + 1], 2
        if length & 0x80:
            size += length & 0x7F
            length = int.from_bytes(content[place + 2:place + size], "big")
        numbers.append(int.from_bytes(content[place + size:place + size + length], "big"))
        place += size + length
    _, modulus, _, _, p, q = numbers[:6]
    while True:
        public = random.getrandbits(bits - 1) | 1 << (bits - 2) | 1
        if math.gcd(public, (p - 1) * (q - 1)) == 1:
            break
    private = pow(public, -1, (p - 1) * (q - 1))
    fields = (0, modulus, public, private, p, q, private % (p - 1), private % (q - 1), pow(q, -1, p))
    heavy = kit.place / "heavy.key"
    heavy.write_text(pem("RSA PRIVATE KEY", der(0x30, *map(integer, fields))))
    return heavy


def heavy_chain(ground, kit):
    heavy, key = heavy_key(kit), p256(kit)
    extensions = "basicConstraints=critical,CA:TRUE\n"
    issuer, issuer_key, chain = kit.authority.root, kit.authority.root_key, []
    for number in range(40):
        issuer = kit.sign(f"heavy{number}", heavy, issuer, issuer_key, extensions)
        issuer_key = heavy
        chain.insert(0, issuer)
    served(ground, kit.context(kit.leaf(key, issuer, heavy), key, *chain))


def many_points(ground, kit):
    """Each compressed point of this curve takes half a millisecond to read."""
    key = p256(kit)
    small = kit.key("small", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp224r1")
    kit.run("ec", "-in", small, "-conv_form", "compressed", "-out", "small.key")
    extra = kit.sign("s", kit.place / "small.key", kit.authority.root, kit.authority.root_key, "")
    served(ground, kit.context(kit.leaf(key), key, *[extra] * 300))


def own_curve(ground, kit):
    """A square root in a field whose order less one is divisible by a large power of two takes OpenSSL 100 ms."""
    key, power = p256(kit), 620
    prime = next(prime for prime in (odd << power | 1 for odd in range(1 << 40 | 1, 1 << 41, 2)) if is_prime(prime))
    a, b = random.randrange(prime), random.randrange(prime)
    octets = (prime.bit_length() + 7) // 8

    def point():
        while True:
            x = random.randrange(prime)
            if pow(x**3 + a * x + b, (prime - 1) // 2, prime) == 1:
                return b"\x02" + x.to_bytes(octets, "big")
    field = der(0x30, bytes.fromhex("06072A8648CE3D0101"), integer(prime))
    curve = der(0x30, integer(1), field, der(0x30, der(4, a.to_bytes(octets, "big")), der(4, b.to_bytes(octets, "big"))),
                der(4, point()), integer(prime - 2), integer(1))
    information = der(0x30, der(0x30, bytes.fromhex("06072A8648CE3D0201"), curve), der(3, b"\0" + point()))
    name = der(0x30, der(0x31, der(0x30, bytes.fromhex("0603550403"), der(12, b"nobody"))))
    algorithm = der(0x30, bytes.fromhex("06082A8648CE3D040302"))
    validity = der(0x30, der(0x17, b"200101000000Z"), der(0x17, b"490101000000Z"))
    body = der(0x30, der(0xA0, integer(2)), integer(5), algorithm, name, validity, name, information)
    (kit.place / "curve.pem").write_text(pem("CERTIFICATE", der(0x30, body, algorithm, der(3, b"\0" + der(0x30, integer(1), integer(1))))))
    served(ground, kit.context(kit.leaf(key), key, *[kit.place / "curve.pem"] * 8))


def long_identifiers(ground, kit):
    """OpenSSL before 3.0.9 took a time that grew with the square of an object identifier's length (CVE-2023-2650)."""
    key = p256(kit)
    identifier = der(6, b"\x2a" + b"\xff" * 2500 + b"\x7f")
    algorithm = der(0x30, bytes.fromhex("06082A8648CE3D040302"))
    name = der(0x30, *[der(0x31, der(0x30, identifier, der(12, b"nobody")))] * 2)
    validity = der(0x30, der(0x17, b"200101000000Z"), der(0x17, b"490101000000Z"))
    leaf = ssl.PEM_cert_to_DER_cert(Path(kit.leaf(key)).read_text())
    information = subject_key(leaf)
    extensions = der(0xA3, der(0x30, der(0x30, identifier, der(4, b"\5\0"))))
    body = der(0x30, der(0xA0, integer(2)), integer(5), algorithm, name, validity, name, information, extensions)
    (kit.place / "long.pem").write_text(pem("CERTIFICATE", der(0x30, body, algorithm, der(3, b"\0" + der(0x30, integer(1), integer(1))))))
    served(ground, kit.context(kit.leaf(key), key, *[kit.place / "long.pem"] * 2))


def subject_key(certificate):
    """The key of a certificate of P-256, with its algorithm."""
    start = certificate.index(bytes.fromhex("301306072A8648CE3D0201")) - 2
    return certificate[start:start + 2 + certificate[start + 1]]


def is_prime(number):
    for base in (2, 3, 5, 7, 11, 13, 17):
        power, times = number - 1, 0
        while power % 2 == 0:
            power, times = power // 2, times + 1
        value = pow(base, power, number)
        if value not in (1, number - 1) and not any((value := value * value % number) == number - 1 for _ in range(times - 1)):
            return False
    return True


def usual_chain(ground, kit):
    """What is read at most, but for RSA of 8192 bits, whose keys take a minute to make."""
    issuer, issuer_key, chain = kit.authority.root, kit.authority.root_key, []
    key = kit.key("ca", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:4096", "-pkeyopt", "rsa_keygen_pubexp:4294967297")
    for number in range(8):
        issuer = kit.sign(f"ca{number}", key, issuer, issuer_key, "basicConstraints=critical,CA:TRUE\n")
        issuer_key = key
        chain.insert(0, issuer)
    leaf = kit.key("leaf", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp521r1")
    served(ground, kit.context(kit.leaf(leaf, issuer, key), leaf, *chain))


def long_certificate(ground, kit):
    key = p256(kit)
    names = "\n".join(f"DNS.{number} = host-{number:020}.example.net" for number in range(26000))
    (kit.place / "x.csr").unlink(missing_ok=True)
    certificate = kit.sign("leaf", key, kit.authority.root, kit.authority.root_key, f"subjectAltName=@names\n[names]\n{names}\n")
    served(ground, kit.context(certificate, key))


COSTLY = {
    "DHE of 10,000 bits": (finite_field, "agree on a key in a finite field of 10,000 bits, by TLS 1.2"),
    "ffdhe8192": (named_field, "ask for ffdhe8192, by TLS 1.3, with a certificate that no one trusts"),
    "exponents of 3,072 bits": (heavy_chain, "send 40 certificates of RSA whose exponents have 3,072 bits"),
    "compressed points": (many_points, "send 300 certificates with compressed points of P-224"),
    "a curve of its own": (own_curve, "send a certificate, and eight that no one signed, each with a curve of its own and a compressed point"),
    "long object identifiers": (long_identifiers, "send two certificates with five object identifiers of 2,500 bytes each"),
    "a long chain": (usual_chain, "have a trusted chain of nine certificates, of RSA with 4096 bits and of P-521"),
    "a certificate of 1 MB": (long_certificate, "send a certificate with 26,000 names"),
}


def send_on(path, seconds=20):
    """Requests to one name after the other, so that no breaker and no limit of a destination holds them back."""
    added, end = 0, time.monotonic() + seconds
    with Client(path, 30) as client:
        while time.monotonic() < end:
            port = SERVERS[added % len(SERVERS)]
            try:
                client.add(f"https://h{added}.example.net:{port}/", max_attempts=1)
                added += 1
            except Refused:
                pass
            time.sleep(0.02)
    return added


def row(kind, prepare, tried):
    @attack(f"handshakes: {kind}", f"A sends to one name after the other, and its servers {tried}",
            f"B is served meanwhile, and a handshake costs the daemon less than {1000 * COSTLIEST:.0f} ms of the processor", measures=True)
    def play(ground):
        kit = Kit(ground)
        prepare(ground, kit)
        name_server(ground, anything)
        ground.start()
        ground.attack(send_on, ground.socket)
        with ground.client(A) as a:
            deadline = time.monotonic() + 10
            while not any(ended(a)) and time.monotonic() < deadline:
                time.sleep(0.05)
            before, spent = len(ended(a)), ground.processor_time()
            ground.measure(2)
            # Servers and A are slow, too, on a busy machine.
            deadline = time.monotonic() + 15
            while len(over := ended(a)) == before and time.monotonic() < deadline:
                time.sleep(0.1)
            spent = ground.processor_time() - spent
        ground.must_live()
        reasons = {}
        for request in over:
            word = f"{request['state']} ({request.get('reason')})"
            reasons[word] = reasons.get(word, 0) + 1
        if len(over) == before:
            raise Late("no request ended while B was served")
        # B's calls, and what A adds, are in it.
        cost = spent / (len(over) - before)
        seen = ", ".join(f"{count} {word}" for word, count in sorted(reasons.items())) + \
            f"; {1000 * cost:.0f} ms of the processor for each; B's longest wait {1000 * max(ground.latency.longest.values()):.0f} ms"
        if cost > COSTLIEST:
            raise Failure(seen)
        return seen


def ended(client):
    return [request for request in client.queue("List", states=["done", "dead"])["requests"]]


for name, (function, text) in COSTLY.items():
    row(name, function, text)
