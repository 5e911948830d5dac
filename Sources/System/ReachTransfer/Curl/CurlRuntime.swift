internal import CCurl
internal import ReachCore

/// The version and features of this machine's libcurl (curl_version_info(3)): Debian 12 has 7.88.1 with OpenSSL.
package struct CurlRuntime: Hashable, Sendable {
    /// Such as `7.88.1`.
    package let version: String
    /// Such as `OpenSSL/3.0.19`.
    package let tls: String
    package let hasHTTP2: Bool
    /// The path of its trusted certificates; empty if it has none.
    package let certificatesPath: String

    /// Whether libcurl uses OpenSSL: ``ChainJudge`` checks certificates within its handshake.
    package var hasOpenSSL: Bool { tls.hasUTF8Prefix("OpenSSL/") }

    /// Loads and starts libcurl, before any thread uses it. `nil` if that fails.
    package static let current: CurlRuntime? = {
        guard reach_curl_missing() == nil, curl_global_init(REACH_CURL_GLOBAL_DEFAULT) == CURLE_OK,
            let information = reach_curl_version()?.pointee
        else { return nil }
        return CurlRuntime(information)
    }()

    /// The dynamic linker's message where libcurl cannot be loaded.
    package static var missingLibrary: String? { reach_curl_missing().map { String(cString: $0) } }

    /// Why libcurl cannot make transfers; `nil` if it can. Loads it.
    package static var whyUnusable: String? {
        guard let current else { return "libcurl cannot be \(missingLibrary.map { "loaded: \($0)" } ?? "started")" }
        return current.hasOpenSSL ? nil : "libcurl must use OpenSSL, and uses \(current.tls)"
    }

    private init(_ information: curl_version_info_data) {
        version = String(cString: information.version)
        tls = information.ssl_version.map { String(cString: $0) } ?? ""
        hasHTTP2 = information.features & CURL_VERSION_HTTP2 != 0
        certificatesPath = information.cainfo.map { String(cString: $0) } ?? ""
    }
}
