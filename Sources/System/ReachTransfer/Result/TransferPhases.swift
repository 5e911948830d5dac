package import ReachCore

/// When each phase of one hop ended, by CLOCK_BOOTTIME; `nil` for a phase that did not happen: a reused connection is
/// not resolved, connected or secured.
///
/// libcurl's own times are not used: 7.88.1 leaves out those of a connection that failed.
package struct TransferPhases: Hashable, Sendable {
    package var started: BootTime
    /// An address is known, found or given.
    package var resolved: BootTime?
    /// TCP is connected, to the last address that was tried.
    package var connected: BootTime?
    /// The TLS handshake is complete.
    package var secured: BootTime?
    /// The first byte of the request is about to be sent: a server may have seen it from here on.
    package var requestStarted: BootTime?
    /// The kernel has all of the request; without a body, the same instant as ``requestStarted``.
    package var requestSent: BootTime?
    /// The first byte of a response.
    package var firstByte: BootTime?
    package var finished: BootTime?

    package init(started: BootTime) { self.started = started }

    /// The path's round-trip time: no longer than the shorter of connecting and waiting for the response. A first
    /// packet that is lost, or waits for the gateway's address, makes connecting a second longer (the kernel's first
    /// wait for an answer to SYN), and a busy server makes the other longer.
    package var roundTrip: Duration? {
        let connecting = connected.map { $0 - (resolved ?? started) }
        let waiting = firstByte.flatMap { byte in requestSent.map { byte - $0 } }
        return [connecting, waiting].compactMap(\.self).min()
    }
}

/// One request and its response: a transfer has one, and one more for each redirect that it followed.
package struct TransferHop: Hashable, Sendable {
    package var url: TransferURL
    package var method: String
    package var phases: TransferPhases
    package var status: Int?
    /// The addresses of its connection, which may be one to a proxy.
    package var remoteAddress: IPAddress?
    package var localAddress: IPAddress?
    /// Whether an open connection was reused.
    package var reusedConnection = false
    /// How many addresses were tried.
    package var attempts = 0
    /// The version of HTTP as received; `nil` without a response.
    package var version: String?
    /// The bytes of HTTP, before TLS encrypts them.
    package var wire = WireBytes()
    /// The server's certificate, whether or not it was accepted; `nil` without TLS and on a reused connection.
    package var certificate: PeerCertificate?

    package init(url: TransferURL, method: String, phases: TransferPhases) {
        self.url = url
        self.method = method
        self.phases = phases
    }
}

/// Bytes of heads and of bodies, as they are encoded.
package struct WireBytes: Hashable, Sendable {
    package var sent: UInt64 = 0
    package var received: UInt64 = 0

    package init() {}
}

/// The certificate that a server presented.
package struct PeerCertificate: Hashable, Sendable {
    package var validFrom: Timestamp
    package var validUntil: Timestamp
    /// Distinguished names in RFC 2253 form.
    package var subject: String
    package var issuer: String
    /// The names it is for (subjectAltName's DNS names and addresses).
    package var names: [String]
    /// SHA-256 of its public key (RFC 7469).
    package var publicKeyFingerprint: SecurityPolicy.Digest
    /// OpenSSL's verdict on the chain (X509_V_*); 0 is good. The host's name is not part of it.
    package var verification: Int32

    package init(
        validFrom: Timestamp, validUntil: Timestamp, subject: String, issuer: String, names: [String],
        publicKeyFingerprint: SecurityPolicy.Digest, verification: Int32
    ) {
        self.validFrom = validFrom
        self.validUntil = validUntil
        self.subject = subject
        self.issuer = issuer
        self.names = names
        self.publicKeyFingerprint = publicKeyFingerprint
        self.verification = verification
    }
}
