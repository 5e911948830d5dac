internal import CCurl

/// Which servers are trusted, after AFNetworking's AFSecurityPolicy.
///
/// Contradictory policies cannot be made: ``init(pins:anchors:allowsInvalidCertificates:validatesDomainName:)`` refuses
/// what AFNetworking only refuses with each server it meets.
public struct SecurityPolicy: Hashable, Sendable {
    /// How a server is recognised, in addition to its certificate's issuer or instead of it.
    public enum Pins: Hashable, Sendable {
        /// By its certificate's issuer alone.
        case none
        /// Public keys, each by the SHA-256 of its SubjectPublicKeyInfo (RFC 7469). One key in the verified chain must
        /// be among them; with invalid certificates allowed, the server's own.
        case publicKeys([Digest])
        /// Whole certificates, each by the bytes of its DER form. One in the verified chain must be among them. With
        /// invalid certificates allowed, they are the only ones that are trusted: a self-signed server's own is enough.
        case certificates([CertificateData])
    }

    /// The certificates whose signature is trusted.
    public enum Anchors: Hashable, Sendable {
        /// The system's list.
        case system
        /// Only these.
        case only([CertificateData])
    }

    /// Why a policy contradicts itself.
    public enum Contradiction: Error, Hashable, Sendable, CustomStringConvertible {
        /// A name in certificates that anyone could have made proves nothing.
        case domainOfInvalidCertificates
        /// No server would match.
        case noPins
        /// No server would be trusted.
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

    /// How a server is recognised.
    public let pins: Pins
    /// The certificates whose signature is trusted.
    public let anchors: Anchors
    /// Whether expired, self-signed and other untrusted certificates are accepted.
    public let allowsInvalidCertificates: Bool
    /// Whether the certificate must be for the URL's host.
    public let validatesDomainName: Bool

    /// Refuses certificates that their issuers revoked; `nil` checks none. Without invalid certificates, it also
    /// refuses one whose issuer has no list that is in force.
    public var revocation: Revocation?

    /// Accepts valid certificates by the system's list, for the URL's host.
    public static let standard = SecurityPolicy()

    private init() {
        pins = .none
        anchors = .system
        allowsInvalidCertificates = false
        validatesDomainName = true
    }

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - pins: How a server is recognised. Pins need an https URL.
    ///   - anchors: The certificates whose signature is trusted.
    ///   - allowsInvalidCertificates: Without pins, anyone between here and the server can read and change everything.
    ///   - validatesDomainName: Whether the certificate must be for the URL's host.
    /// - Throws: ``Contradiction`` for a policy that no server or every server could meet.
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
        /// 32 bytes.
        public let bytes: [UInt8]

        /// - Returns: `nil` unless there are 32 bytes.
        public init?(bytes: [UInt8]) {
            guard bytes.count == 32 else { return nil }
            self.bytes = bytes
        }
    }
}

extension SecurityPolicy {
    /// Revocation by lists of issuers (RFC 5280, 5). The program fetches the lists: a handshake sends nothing to
    /// third parties.
    public struct Revocation: Hashable, Sendable {
        /// The lists, of each issuer the newest.
        public var lists: [RevocationList]
        /// Whether each certificate of the chain needs a list, and not the server's own alone.
        public var checksWholeChain: Bool

        /// Checks certificates by lists.
        public init(_ lists: [RevocationList], wholeChain checksWholeChain: Bool = false) {
            self.lists = lists
            self.checksWholeChain = checksWholeChain
        }
    }
}

/// A certificate revocation list as its DER bytes.
public struct RevocationList: Hashable, Sendable {
    /// The list's DER form. Its signature is checked when it is used.
    public let bytes: [UInt8]

    /// A list from its DER bytes.
    ///
    /// - Returns: `nil` if the bytes are no revocation list.
    public init?(bytes: [UInt8]) {
        self.bytes = bytes
        guard let list = parsed() else { return nil }
        X509_CRL_free(list)
    }

    /// The first revocation list of a PEM text.
    ///
    /// - Returns: `nil` if there is none.
    public init?(pem text: String) {
        guard let bytes = PEMText.bytes(of: "X509 CRL", in: text) else { return nil }
        self.init(bytes: bytes)
    }
}

/// A certificate as its DER bytes.
public struct CertificateData: Hashable, Sendable {
    /// The certificate's DER form (RFC 5280). Nothing is checked before it is used.
    public let bytes: [UInt8]

    /// A certificate from its DER bytes.
    public init(bytes: [UInt8]) { self.bytes = bytes }
}

/// The certificate that the client presents to a server that asks for one: PEM texts, so that the engine's thread reads
/// no file.
public struct ClientCertificate: Hashable, Sendable {
    /// The certificate, then those that lead to its issuer.
    public let certificatePEM: [UInt8]
    /// Its private key.
    public let keyPEM: [UInt8]
    /// The key's passphrase; `nil` if it has none.
    public let passphrase: String?

    /// A certificate with its key, both as PEM texts.
    public init(certificatePEM: [UInt8], keyPEM: [UInt8], passphrase: String? = nil) {
        self.certificatePEM = certificatePEM
        self.keyPEM = keyPEM
        self.passphrase = passphrase
    }
}
