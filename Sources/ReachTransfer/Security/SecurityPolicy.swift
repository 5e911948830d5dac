/// Which servers are trusted, after AFNetworking's AFSecurityPolicy.
///
/// Contradictory policies cannot be made: ``init(pins:anchors:allowsInvalidCertificates:validatesDomainName:)`` refuses
/// what AFNetworking only refuses with each server it meets.
package struct SecurityPolicy: Hashable, Sendable {
    /// What a server is recognised by, beside or instead of the trust in who signed it.
    package enum Pins: Hashable, Sendable {
        case none
        /// Public keys, each by the SHA-256 of its SubjectPublicKeyInfo (RFC 7469). One key in the verified chain must
        /// be among them; with invalid certificates allowed, the server's own.
        case publicKeys([Digest])
        /// Whole certificates, each by the bytes of its DER form. One in the verified chain must be among them. With
        /// invalid certificates allowed, they are the only ones that are trusted: a self-signed server's own is enough.
        case certificates([CertificateData])
    }

    /// Whose signature is trusted.
    package enum Anchors: Hashable, Sendable {
        /// The system's list.
        case system
        /// These and no others.
        case only([CertificateData])
    }

    /// Why a policy cannot be meant.
    package enum Contradiction: Error, Hashable, Sendable, CustomStringConvertible {
        /// To validate a name in certificates that anyone could have made proves nothing.
        case domainOfInvalidCertificates
        /// Nothing would match.
        case noPins
        case noAnchors

        package var description: String {
            switch self {
            case .domainOfInvalidCertificates:
                "a domain name cannot be validated in certificates that may be invalid unless some are pinned"
            case .noPins: "pinning needs at least one public key or certificate"
            case .noAnchors: "a list of trusted certificates needs at least one"
            }
        }
    }

    package let pins: Pins
    package let anchors: Anchors
    /// Expired, self-signed and other untrusted certificates are taken too.
    package let allowsInvalidCertificates: Bool
    /// The certificate must be for the URL's host.
    package let validatesDomainName: Bool

    /// Valid certificates by the system's list, for the right host.
    package static let standard = SecurityPolicy()

    private init() {
        pins = .none
        anchors = .system
        allowsInvalidCertificates = false
        validatesDomainName = true
    }

    package init(
        pins: Pins = .none, anchors: Anchors = .system, allowsInvalidCertificates: Bool = false,
        validatesDomainName: Bool = true
    ) throws(Contradiction) {
        switch pins {
        case .none where allowsInvalidCertificates && validatesDomainName: throw .domainOfInvalidCertificates
        case .publicKeys([]), .certificates([]): throw .noPins
        default: break
        }
        if case .only([]) = anchors { throw .noAnchors }
        self.pins = pins
        self.anchors = anchors
        self.allowsInvalidCertificates = allowsInvalidCertificates
        self.validatesDomainName = validatesDomainName
    }

    /// Whether a server is recognised by pins.
    package var hasPins: Bool { pins != .none }
}

/// A SHA-256 digest.
package struct Digest: Hashable, Sendable {
    /// 32 of them.
    package let bytes: [UInt8]

    /// - Returns: `nil` unless there are 32 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }
}

/// A certificate as its DER bytes.
package struct CertificateData: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }
}

/// What the client shows a server that asks for it: PEM texts, so that no file is read on the engine's thread.
package struct ClientCertificate: Hashable, Sendable {
    /// The certificate, then those that lead to its issuer.
    package let certificatePEM: [UInt8]
    /// Its private key.
    package let keyPEM: [UInt8]
    /// Of the key; `nil` if it has none.
    package let passphrase: String?

    package init(certificatePEM: [UInt8], keyPEM: [UInt8], passphrase: String? = nil) {
        self.certificatePEM = certificatePEM
        self.keyPEM = keyPEM
        self.passphrase = passphrase
    }
}
