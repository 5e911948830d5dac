internal import CPublicSuffix

/// The public suffix list of libpsl: Debian's package `publicsuffix`, or the list that was built into libpsl if that is
/// newer.
package enum PublicSuffixes {
    /// libpsl may be read from several threads, and the list lives as long as the process.
    private struct List: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private static let list = psl_latest(nil).map(List.init)

    /// Whether a domain is a public suffix. Loads the list at the first call.
    package static func answer(_ domain: String) -> CookieJar.SuffixAnswer {
        guard let list else { return .unknown }
        return reach_psl_is_suffix(list.pointer, domain) != 0 ? .isPublic : .isPrivate
    }
}
