package import ReachCore

/// When each phase of one hop was over, by our own clock (CLOCK_BOOTTIME). What did not happen is `nil`: a connection that
/// was used again was not resolved, connected or secured.
///
/// libcurl's own times are not used: 7.88.1 leaves out those of a connection that failed (scheduling.md 6.9).
package struct TransferPhases: Hashable, Sendable {
    package var started: BootTime
    /// An address is known; also where it was given.
    package var resolved: BootTime?
    /// TCP is connected, as of the last address that was tried.
    package var connected: BootTime?
    /// TLS is agreed.
    package var secured: BootTime?
    /// The first byte of the request is about to be sent: from here on, a server may have seen it.
    package var requestStarted: BootTime?
    /// All of it was handed to the kernel; with no body the same moment.
    package var requestSent: BootTime?
    /// The first byte of a response.
    package var firstByte: BootTime?
    package var finished: BootTime?

    package init(started: BootTime) { self.started = started }
}

/// One request and its answer: a transfer has as many as it followed redirects, and one more.
package struct TransferHop: Hashable, Sendable {
    package var url: TransferURL
    package var method: String
    package var phases: TransferPhases
    package var status: Int?
    /// The far end and the near end of its connection; of a proxy's, where there is one.
    package var remoteAddress: IPAddress?
    package var localAddress: IPAddress?
    /// An open connection was used.
    package var reusedConnection = false
    /// How many addresses were tried.
    package var attempts = 0
    /// The server's certificate, whether or not it was accepted; `nil` without TLS and on a connection used again.
    package var certificate: PeerCertificate?

    package init(url: TransferURL, method: String, phases: TransferPhases) {
        self.url = url
        self.method = method
        self.phases = phases
    }
}

/// What a server showed to prove who it is.
package struct PeerCertificate: Hashable, Sendable {
    package var validFrom: Timestamp
    package var validUntil: Timestamp
    /// Distinguished names in RFC 2253 form.
    package var subject: String
    package var issuer: String
    /// The names it is for (subjectAltName's DNS names and addresses).
    package var names: [String]
    /// SHA-256 of its DER form, and of its public key (RFC 7469).
    package var fingerprint: SecurityPolicy.Digest
    package var publicKeyFingerprint: SecurityPolicy.Digest
    /// OpenSSL's verdict on the chain (X509_V_*); 0 is good. The host's name is not part of it.
    package var verification: Int32

    package init(
        validFrom: Timestamp, validUntil: Timestamp, subject: String, issuer: String, names: [String],
        fingerprint: SecurityPolicy.Digest, publicKeyFingerprint: SecurityPolicy.Digest, verification: Int32
    ) {
        self.validFrom = validFrom
        self.validUntil = validUntil
        self.subject = subject
        self.issuer = issuer
        self.names = names
        self.fingerprint = fingerprint
        self.publicKeyFingerprint = publicKeyFingerprint
        self.verification = verification
    }
}
