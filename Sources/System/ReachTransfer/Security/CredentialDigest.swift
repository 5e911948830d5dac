internal import ReachCore

/// A digest of all credentials in a request: the user and password of its URL, and its Authorization and Cookie
/// headers. Equal credentials have equal digests.
///
/// SHA-256, since pools keep it for a minute after the last request, and secrets need not be kept that long.
struct CredentialDigest: Hashable {
    private let bytes: [UInt8]

    /// `nil` if the request has no credentials: most have none, and for those nothing is computed.
    init?(_ request: TransferRequest) {
        var text: [UInt8] = []
        for field in request.headers where Self.isCredential(field.name) {
            Self.append(field.name.lowercased(), field.value[...], to: &text)
        }
        if let user = request.url.credentials { Self.append("", user, to: &text) }
        guard !text.isEmpty else { return nil }
        // Without OpenSSL's digest the text itself keeps requests as far apart.
        bytes = MessageDigest.sha256.digest(text) ?? text
    }

    /// Separates the parts by zero bytes, which neither a header's value nor a URL contains.
    private static func append(_ name: String, _ value: Substring, to text: inout [UInt8]) {
        text += name.utf8
        text.append(0)
        text += value.utf8
        text.append(0)
    }

    /// Compares the length first, because this runs for each header of each request.
    private static func isCredential(_ name: String) -> Bool {
        switch name.utf8.count {
        case 6: name.lowercased() == "cookie"
        case 13: name.lowercased() == "authorization"
        default: false
        }
    }
}
