internal import CCurl
internal import ReachCore

/// Whether a server is trusted, and why not.
public struct TrustVerdict: Hashable, Sendable, CustomStringConvertible {
    /// Whether it is trusted.
    public let isTrusted: Bool
    /// A stable word: `trusted`, `certificate-expired`, `certificate-not-yet-valid`, `certificate-untrusted`,
    /// `certificate-wrong-host`, `certificate-invalid`, `pin-mismatch`, or `engine-failed` where this machine cannot
    /// judge.
    public let word: String
    /// A sentence for people.
    public let description: String

    static func trusted(_ host: String) -> TrustVerdict {
        TrustVerdict(isTrusted: true, word: "trusted", description: "\(host) is trusted")
    }

    static func refused(_ reason: TransferFailure.Reason, _ sentence: String) -> TrustVerdict {
        TrustVerdict(isTrusted: false, word: reason.rawValue, description: sentence)
    }
}

/// A server's certificates within the handshake, for a block that decides about them.
public struct ServerTrust: Sendable {
    /// The host of the URL: a name in ASCII, or an address.
    public let host: String
    /// The certificates as the server sent them, its own first. Anyone may have added the others.
    public let chain: [CertificateData]
    /// What the session's ``SecurityPolicy`` says, including the host's name if it validates that.
    public let verdict: TrustVerdict
}

/// A block that decides about servers. Two are equal if they are the same object: connections that one of them admitted
/// are used only by its requests.
package final class TrustJudge: Hashable, Sendable {
    let isTrusted: @Sendable (ServerTrust) -> Bool

    /// - Parameter isTrusted: Called on the loop's thread within the handshake, which waits for it: it must not block.
    package init(_ isTrusted: @escaping @Sendable (ServerTrust) -> Bool) { self.isTrusted = isTrusted }

    package static func == (left: TrustJudge, right: TrustJudge) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension SecurityPolicy {
    /// Judges certificates without a connection, as AFNetworking's `evaluateServerTrust:forDomain:` does.
    ///
    /// Blocks on the disk where the system's certificates are trusted. May be called from any thread.
    ///
    /// - Parameters:
    ///   - chain: The certificates as a server sends them: its own first, then those that lead to a trusted one.
    ///   - host: The name or address that the certificate must be for, if the policy validates it.
    public func evaluate(chain: [CertificateData], host: String) -> TrustVerdict {
        evaluate(chain: chain, host: host, certificatesPath: nil)
    }

    /// - Parameter path: A file of certificates to trust instead of the system's.
    package func evaluate(chain: [CertificateData], host: String, certificatesPath path: String?) -> TrustVerdict {
        if let word = CurlRuntime.whyUnusable { return .refused(.engineFailed, word) }
        guard let name = URLHost(ofTrust: host) else {
            return .refused(.certificateWrongHost, "'\(DisplayText.sanitized(host))' is neither a name nor an address")
        }
        if let fault = CertificateBounds.fault(of: chain.map(\.bytes)) { return .refused(.certificateInvalid, fault) }
        let parsed = chain.map { $0.parsed() }
        defer { for certificate in parsed { X509_free(certificate) } }
        guard let own = parsed.first ?? nil else {
            return .refused(.certificateInvalid, "the chain does not begin with a certificate in DER form")
        }
        guard let context = X509_STORE_CTX_new(), let list = reach_x509_list() else {
            return .refused(.engineFailed, "no memory for certificates")
        }
        defer {
            X509_STORE_CTX_free(context)
            reach_x509_list_free(list)
        }
        for certificate in parsed {
            guard let certificate, reach_x509_append(list, certificate) > 0 else {
                return .refused(.certificateInvalid, "the chain has something else than certificates in DER form")
            }
        }
        guard let store = store(path), store.begin(context, own: own, certificates: list) else {
            return .refused(.engineFailed, "the trusted certificates cannot be read")
        }
        let judgement = withExtendedLifetime(store) { ChainJudge(policy: self).judge(context) }
        return verdict(judgement, own: own, host: name)
    }

    private func store(_ path: String?) -> TrustStore? {
        if let anchors = ownAnchors { return try? TrustStore.only(anchors) }
        let file = TrustStore.file(path ?? CurlRuntime.current?.certificatesPath ?? "")
        return file ?? (allowsInvalidCertificates ? TrustStore.empty() : nil)
    }

    /// The verdict on a chain that OpenSSL has verified, and on its names.
    ///
    /// - Parameter own: The server's own certificate.
    func verdict(_ judgement: ChainJudge.Judgement, own: OpaquePointer?, host: URLHost) -> TrustVerdict {
        guard judgement.isAccepted else {
            if judgement.isPinMismatch { return .refused(.pinMismatch, "\(host.name): the key is not the pinned one") }
            let reason = TransferFailure.certificateReason(judgement.verification)
            let text = String(cString: X509_verify_cert_error_string(Int(judgement.verification)))
            return .refused(reason, "\(host.name): \(text)")
        }
        guard validatesDomainName, let own, !Self.isFor(host, own) else { return .trusted(host.name) }
        return .refused(.certificateWrongHost, "the certificate is not for \(host.name)")
    }

    /// Whether a certificate is for a host, by its subjectAltName alone (RFC 9525).
    private static func isFor(_ host: URLHost, _ certificate: OpaquePointer) -> Bool {
        if let address = host.address { return X509_check_ip_asc(certificate, address.description, 0) == 1 }
        // The dot at the end of a name that is complete stands in no certificate.
        let name = host.name.hasUTF8Suffix(".") ? String(host.name.dropLast()) : host.name
        return X509_check_host(certificate, name, 0, REACH_X509_CHECK_NAMES, nil) == 1
    }
}

extension URLHost {
    /// A host without the brackets that a URL needs around an IPv6 address.
    init?(ofTrust host: String) {
        var host = host
        if InternationalName.isOne(host) {
            guard let ascii = try? InternationalName.ascii(host) else { return nil }
            host = ascii
        }
        let isBare = host.unicodeScalars.contains(":") && !host.hasUTF8Prefix("[")
        self.init(isBare ? "[\(host)]" : host)
    }
}
