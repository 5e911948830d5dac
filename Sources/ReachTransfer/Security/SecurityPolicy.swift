/// Which servers are trusted, after AFNetworking's AFSecurityPolicy.
///
/// Contradictory policies cannot be made: ``init(pins:anchors:allowsInvalidCertificates:validatesDomainName:)`` refuses
/// what AFNetworking only refuses with each server it meets.
public struct SecurityPolicy: Hashable, Sendable {
    /// What a server is recognised by, beside or instead of the trust in who signed it.
    public enum Pins: Hashable, Sendable {
        /// By nothing: the trust in who signed its certificate is all.
        case none
        /// Public keys, each by the SHA-256 of its SubjectPublicKeyInfo (RFC 7469). One key in the verified chain must
        /// be among them; with invalid certificates allowed, the server's own.
        case publicKeys([Digest])
        /// Whole certificates, each by the bytes of its DER form. One in the verified chain must be among them. With
        /// invalid certificates allowed, they are the only ones that are trusted: a self-signed server's own is enough.
        case certificates([CertificateData])
    }

    /// Whose signature is trusted.
    public enum Anchors: Hashable, Sendable {
        /// The system's list.
        case system
        /// These and no others.
        case only([CertificateData])
    }

    /// Why a policy cannot be meant.
    public enum Contradiction: Error, Hashable, Sendable, CustomStringConvertible {
        /// To validate a name in certificates that anyone could have made proves nothing.
        case domainOfInvalidCertificates
        /// Nothing would match.
        case noPins
        /// Nobody would be trusted.
        case noAnchors

        /// A sentence for people.
        public var description: String {
            switch self {
            case .domainOfInvalidCertificates:
                "a domain name cannot be validated in certificates that may be invalid unless some are pinned"
            case .noPins: "pinning needs at least one public key or certificate"
            case .noAnchors: "a list of trusted certificates needs at least one"
            }
        }
    }

    /// What a server is recognised by.
    public let pins: Pins
    /// Whose signature is trusted.
    public let anchors: Anchors
    /// Expired, self-signed and other untrusted certificates are taken too.
    public let allowsInvalidCertificates: Bool
    /// The certificate must be for the URL's host.
    public let validatesDomainName: Bool

    /// Valid certificates by the system's list, for the right host.
    public static let standard = SecurityPolicy()

    private init() {
        pins = .none
        anchors = .system
        allowsInvalidCertificates = false
        validatesDomainName = true
    }

    /// A policy of one's own.
    ///
    /// - Parameters:
    ///   - pins: What a server is recognised by. Pins need an https URL.
    ///   - anchors: Whose signature is trusted.
    ///   - allowsInvalidCertificates: Without pins, anybody between here and the server can read and change everything.
    ///   - validatesDomainName: The certificate must be for the URL's host.
    /// - Throws: ``Contradiction``.
    public init(
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
    public var hasPins: Bool { pins != .none }
}

extension SecurityPolicy {
    /// A SHA-256 digest.
    public struct Digest: Hashable, Sendable {
        /// 32 of them.
        public let bytes: [UInt8]

        /// - Returns: `nil` unless there are 32 bytes.
        public init?(bytes: [UInt8]) {
            guard bytes.count == 32 else { return nil }
            self.bytes = bytes
        }
    }
}

/// Within the package there is no other.
package typealias Digest = SecurityPolicy.Digest

/// A certificate as its DER bytes.
public struct CertificateData: Hashable, Sendable {
    /// The certificate's DER form (RFC 5280). Nothing is checked before it is used.
    public let bytes: [UInt8]

    /// A certificate from its DER bytes.
    public init(bytes: [UInt8]) { self.bytes = bytes }
}

/// What the client shows a server that asks for it: PEM texts, so that no file is read on the engine's thread.
public struct ClientCertificate: Hashable, Sendable {
    /// The certificate, then those that lead to its issuer.
    public let certificatePEM: [UInt8]
    /// Its private key.
    public let keyPEM: [UInt8]
    /// Of the key; `nil` if it has none.
    public let passphrase: String?

    /// A certificate with its key, both as PEM texts.
    public init(certificatePEM: [UInt8], keyPEM: [UInt8], passphrase: String? = nil) {
        self.certificatePEM = certificatePEM
        self.keyPEM = keyPEM
        self.passphrase = passphrase
    }
}
