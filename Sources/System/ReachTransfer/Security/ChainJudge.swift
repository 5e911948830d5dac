internal import CCurl

/// Checks a server's certificates against a ``SecurityPolicy``, within OpenSSL's handshake.
///
/// Before the handshake is complete, neither the request nor the client's certificate is sent. The check uses the chain
/// that OpenSSL verified, not the list that the server sent, to which anyone may add the pinned certificate:
/// CURLINFO_CERTINFO shows that list, and CURLOPT_PINNEDPUBLICKEY checks only the server's own key.
struct ChainJudge {
    struct Judgement {
        var isAccepted: Bool
        var isPinMismatch = false
        var certificate: PeerCertificate?
        /// X509_V_*
        var verification: Int32
    }

    let policy: SecurityPolicy

    /// - Parameter context: OpenSSL's X509_STORE_CTX, with the certificates that the server sent and the trusted ones.
    func judge(_ context: OpaquePointer) -> Judgement {
        let lists = policy.revocation.flatMap { RevocationLists($0.lists) }
        defer { withExtendedLifetime(lists) {} }
        if let revocation = policy.revocation { lists?.check(context, wholeChain: revocation.checksWholeChain) }
        let isValid = X509_verify_cert(context) == 1
        let verification = isValid ? X509_V_OK : X509_STORE_CTX_get_error(context)
        let own = X509_STORE_CTX_get0_cert(context)
        // What its issuer revoked is not accepted with others that are invalid, nor anything where there is no memory
        // for lists.
        let isRevoked = policy.revocation != nil && (lists == nil || verification == X509_V_ERR_CERT_REVOKED)
        var judgement = Judgement(
            isAccepted: !isRevoked && (isValid || policy.allowsInvalidCertificates), verification: verification)
        judgement.certificate = own.flatMap { PeerCertificate($0, verification: verification) }
        switch policy.pins {
        case .none: break
        case .publicKeys(let keys):
            // Without a verified chain, only the server's own certificate is proved: by the handshake's signature.
            let proved = isValid ? Self.chain(context) : own.map { [$0] } ?? []
            let isPinned = proved.contains { PeerCertificate.publicKeyDigest($0).map(keys.contains) ?? false }
            if judgement.isAccepted, !isPinned { judgement.refuseByPin() }
        case .certificates(let pinned):
            // Where invalid certificates are allowed, the pinned ones are the trusted ones, and must verify the chain.
            if policy.allowsInvalidCertificates, !isValid { judgement.refuseByPin() }
            let isPinned =
                isValid
                && Self.chain(context).contains { pinned.contains(CertificateData(bytes: PeerCertificate.bytes($0))) }
            if judgement.isAccepted, !isPinned { judgement.refuseByPin() }
        }
        return judgement
    }

    /// From the server's own certificate to the trusted one.
    private static func chain(_ context: OpaquePointer) -> [OpaquePointer] {
        let chain = X509_STORE_CTX_get0_chain(context)
        return (0..<reach_x509_count(chain)).compactMap { reach_x509_at(chain, $0) }
    }
}

extension ChainJudge.Judgement {
    fileprivate mutating func refuseByPin() {
        isAccepted = false
        isPinMismatch = true
    }
}

extension SecurityPolicy {
    /// The certificates to trust instead of the system's; `nil` for the system's.
    var ownAnchors: [CertificateData]? {
        if case .certificates(let pinned) = pins, allowsInvalidCertificates { return pinned }
        if case .only(let anchors) = anchors { return anchors }
        return nil
    }
}

/// The parsed lists of a policy, freed with the object, which must outlive the verification that uses them.
final class RevocationLists {
    private let lists: OpaquePointer

    /// - Returns: `nil` without memory.
    init?(_ lists: [RevocationList]) {
        guard let list = reach_x509_crl_list() else { return nil }
        self.lists = list
        for parsed in lists.compactMap({ $0.parsed() }) where reach_x509_crl_append(list, parsed) <= 0 {
            X509_CRL_free(parsed)
        }
    }

    deinit { reach_x509_crl_list_free(lists) }

    /// Makes a verification that has not begun check revocation.
    func check(_ context: OpaquePointer, wholeChain: Bool) {
        X509_STORE_CTX_set0_crls(context, lists)
        X509_STORE_CTX_set_flags(
            context, UInt(X509_V_FLAG_CRL_CHECK) | (wholeChain ? UInt(X509_V_FLAG_CRL_CHECK_ALL) : 0))
    }
}

extension RevocationList {
    /// The caller frees the result.
    func parsed() -> OpaquePointer? {
        bytes.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return d2i_X509_CRL(nil, &start, buffer.count)
        }
    }
}
