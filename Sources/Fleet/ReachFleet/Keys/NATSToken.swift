package import ReachCore

/// What a token of NATS says, before it is signed: the claims of a JWT.
package struct NATSClaims: Hashable, Sendable {
    /// The key that the token is about.
    package var subject: String
    package var name: String
    /// The key that signs.
    package var issuer: String
    /// Seconds since 1970, as JWTs have them.
    package var issued: Int64
    /// When it was issued, to the nanosecond: the order of tokens of one second. `nil` where seconds are enough.
    package var issuedExactly: Timestamp?
    /// Seconds since 1970; `nil` for no end.
    package var expires: Int64?
    /// What NATS adds: the type, rights, accounts.
    package var body: [String: JSONValue]

    package init(
        subject: String, name: String, issuer: String, issued: Int64, issuedExactly: Timestamp? = nil,
        expires: Int64? = nil,
        body: [String: JSONValue]
    ) {
        self.subject = subject
        self.name = name
        self.issuer = issuer
        self.issued = issued
        self.issuedExactly = issuedExactly
        self.expires = expires
        self.body = body
    }

    /// Our own claim, which servers and other tools skip: nanoseconds since 1970.
    fileprivate static let exactTime = "reach_issued_ns"

    /// Makes the token.
    ///
    /// - Parameters:
    ///   - hash: Makes an identity that differs where the claims do.
    ///   - sign: Signs a text with the issuer's key.
    package func signed<Fault: Error>(
        hashedBy hash: ([UInt8]) -> [UInt8], by sign: (String) throws(Fault) -> [UInt8]
    ) throws(Fault) -> NATSToken {
        var members = self.members
        members["jti"] = .string(Base32.encode(hash(JSONValue.object(members).encoded)))
        let json = JSONValue.object(members)
        let text = "\(NATSToken.header).\(Base64URL.encode(json.encoded))"
        return NATSToken(signedText: text, claims: json, signature: try sign(text))
    }

    private var members: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "sub": .string(subject), "name": .string(name), "iss": .string(issuer), "iat": .integer(issued),
            "nats": .object(body),
        ]
        if let expires { members["exp"] = .integer(expires) }
        if let issuedExactly { members[Self.exactTime] = .integer(issuedExactly.nanosecondsSince1970) }
        return members
    }
}

/// A token of NATS: a JWT that an operator's or an account's key signed.
package struct NATSToken: Hashable, Sendable {
    /// The reason why a text is no token.
    package struct Fault: Error, Hashable, Sendable {}

    /// The most bytes. An account's token has a line for each revoked key.
    package static let sizeLimit = 1 << 20

    /// `{"typ":"JWT","alg":"ed25519-nkey"}`
    fileprivate static let header = Base64URL.encode(Array(#"{"typ":"JWT","alg":"ed25519-nkey"}"#.utf8))

    /// What is signed.
    package let signedText: String
    package let signature: [UInt8]
    package let claims: JSONValue

    fileprivate init(signedText: String, claims: JSONValue, signature: [UInt8]) {
        (self.signedText, self.claims, self.signature) = (signedText, claims, signature)
    }

    /// Reads a token. Whether its signature is right is another question.
    package init(_ text: String) throws(Fault) {
        let parts = text.split(scalar: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.sizeLimit, parts.count == 3, let header = Base64URL.decode(parts[0]),
            let kind = try? JSONReader.read(header), kind["alg"]?.string?.hasUTF8Prefix("ed25519") == true,
            let document = Base64URL.decode(parts[1]), let claims = try? JSONReader.read(document),
            claims.object != nil, let signature = Base64URL.decode(parts[2]), signature.count == 64
        else { throw Fault() }
        self.init(signedText: "\(parts[0]).\(parts[1])", claims: claims, signature: signature)
    }

    package var text: String { "\(signedText).\(Base64URL.encode(signature))" }

    package var subject: String { claims["sub"]?.string ?? "" }
    package var name: String { claims["name"]?.string ?? "" }
    package var issuer: String { claims["iss"]?.string ?? "" }
    package var issued: Int64 { claims["iat"]?.integer ?? 0 }
    /// When it was issued: to the nanosecond if it says so, and otherwise the beginning of its second.
    package var issuedExactly: Timestamp {
        claims[NATSClaims.exactTime]?.integer.map { Timestamp(nanosecondsSince1970: $0) }
            ?? Timestamp(secondsSince1970: Int(issued), nanoseconds: 0)
    }
    package var expires: Int64? { claims["exp"]?.integer }
    package var body: [String: JSONValue] { claims["nats"]?.object ?? [:] }

    /// The groups of a user, in its tags.
    package var groups: [String] {
        (body["tags"]?.array ?? []).compactMap { $0.string?.after(FleetAccounts.groupTag).map(String.init) }
            .filter(FleetNames.hostIsValid)
    }
}

/// Base64 with the alphabet of RFC 4648, section 5, without padding: as JWTs have it.
enum Base64URL {
    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for byte in Base64.encode(bytes).utf8 {
            switch byte {
            case UInt8(ascii: "+"): text.append(UInt8(ascii: "-"))
            case UInt8(ascii: "/"): text.append(UInt8(ascii: "_"))
            case UInt8(ascii: "="): break
            default: text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: `nil` for anything that ``encode(_:)`` does not make.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "-"): bytes.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): bytes.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: bytes.append(byte)
            }
        }
        while bytes.count % 4 != 0 { bytes.append(UInt8(ascii: "=")) }
        return Base64.decode(bytes)
    }
}
