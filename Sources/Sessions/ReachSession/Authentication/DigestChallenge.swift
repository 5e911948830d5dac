internal import ReachCore
internal import ReachTransfer

/// A server's challenge to Digest authentication (RFC 7616), and the answers to it.
///
/// Only `qop=auth` is answered: without a quality of protection the password is open to a chosen nonce, and `auth-int`
/// is hardly ever offered.
package struct DigestChallenge: Hashable, Sendable {
    /// The algorithms, the stronger ones later.
    package enum Algorithm: String, Hashable, Sendable, CaseIterable {
        case md5 = "MD5"
        case md5Session = "MD5-sess"
        case sha256 = "SHA-256"
        case sha256Session = "SHA-256-sess"
        case sha512 = "SHA-512-256"
        case sha512Session = "SHA-512-256-sess"

        var function: MessageDigest {
            switch self {
            case .md5, .md5Session: .md5
            case .sha256, .sha256Session: .sha256
            case .sha512, .sha512Session: .sha512_256
            }
        }

        var isOfSession: Bool { rawValue.hasUTF8Suffix("-sess") }

        var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// The protection space.
    package let realm: String
    package let nonce: String
    package let opaque: String?
    package let algorithm: Algorithm
    /// Whether the credentials were right, and only the nonce was too old.
    package let isStale: Bool
    /// Whether the user's name is sent as a hash.
    package let hashesUser: Bool

    /// - Returns: `nil` for another scheme, and for a challenge that cannot be answered.
    package init?(_ field: ChallengeField) {
        let parameters = field.parameters
        guard field.scheme == "digest", let realm = parameters["realm"], let nonce = parameters["nonce"] else {
            return nil
        }
        let word = parameters["algorithm"]?.lowercased() ?? "md5"
        let qualities = (parameters["qop"] ?? "").split(scalar: ",").map { $0.filterScalars { $0 != " " }.lowercased() }
        guard let algorithm = Algorithm.allCases.first(where: { $0.rawValue.lowercased() == word }),
            qualities.contains("auth")
        else { return nil }
        self.realm = realm
        self.nonce = nonce
        self.algorithm = algorithm
        opaque = parameters["opaque"]
        isStale = parameters["stale"]?.lowercased() == "true"
        hashesUser = parameters["userhash"]?.lowercased() == "true"
    }

    /// The value of an `Authorization` field that answers the challenge.
    ///
    /// - Parameters:
    ///   - target: The target in the request line: path and query.
    ///   - count: How often this nonce has been used with this client nonce, from 1.
    ///   - clientNonce: Random text, new for each nonce.
    /// - Returns: `nil` for credentials with control characters, and where this machine lacks the hash function.
    package func authorization(
        method: String, target: String, user: String, password: String, count: UInt32 = 1, clientNonce: String
    ) -> String? {
        guard (user + password).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }),
            (realm + nonce + (opaque ?? "")).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
        else { return nil }
        let function = algorithm.function
        guard var first = function.hexadecimal("\(user):\(realm):\(password)"),
            let second = function.hexadecimal("\(method):\(target)")
        else { return nil }
        if algorithm.isOfSession { first = function.hexadecimal("\(first):\(nonce):\(clientNonce)") ?? first }
        let digits = String(count, radix: 16)
        let number = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
        guard let response = function.hexadecimal("\(first):\(nonce):\(number):\(clientNonce):auth:\(second)"),
            let name = userParameter(user)
        else { return nil }
        var value = "Digest \(name), realm=\(QuotedText.quoted(realm)), uri=\(QuotedText.quoted(target))"
        value += ", algorithm=\(algorithm.rawValue), nonce=\(QuotedText.quoted(nonce)), nc=\(number)"
        value += ", cnonce=\(QuotedText.quoted(clientNonce)), qop=auth, response=\"\(response)\""
        if let opaque { value += ", opaque=\(QuotedText.quoted(opaque))" }
        if hashesUser { value += ", userhash=true" }
        return value
    }

    private func userParameter(_ user: String) -> String? {
        if hashesUser { return algorithm.function.hexadecimal("\(user):\(realm)").map { "username=\"\($0)\"" } }
        if user.utf8.allSatisfy({ $0 < 0x80 }) { return "username=" + QuotedText.quoted(user) }
        // RFC 8187.
        return "username*=UTF-8\'\'" + user.utf8.map(Self.escaped).joined()
    }

    private static func escaped(_ byte: UInt8) -> String {
        byte.isLetterOrDigit
            ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
}
