internal import CCurl

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
