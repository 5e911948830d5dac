internal import ReachCore

/// What a key of NATS is for. A public half begins with the kind's letter, a seed with `S` and the letter.
package enum NKeyKind: UInt8, CaseIterable, Hashable, Sendable {
    /// `O`: whose accounts a server has.
    case `operator` = 0x70
    /// `A`: an account, and keys that sign its users' tokens.
    case account = 0x00
    /// `U`: who connects.
    case user = 0xa0
}

/// The text of NATS's keys: a prefix byte, 32 bytes of Ed25519, and a checksum, in base32.
///
/// A user's public half begins with `U`, a user's seed with `SU`.
package enum NKeyText {
    /// The reason why a text is not a key.
    package enum Fault: Error, Hashable, Sendable {
        /// Not 56 (public half) or 58 (seed) letters of base32.
        case malformed
        /// A letter was lost or exchanged: the checksum differs.
        case checksum
        /// A key, but of another kind: the letter that it begins with.
        case otherKind(String)
        /// A seed where the public half belongs. Whoever sees it can act as its owner.
        case secret

        package var sentence: String {
            switch self {
            case .malformed: "it is not a key of NATS"
            case .checksum: "its checksum is wrong: a letter was lost or changed"
            case .otherKind(let letter): "it is a key of another kind ('\(letter)'), not of a user ('U')"
            case .secret: "it is a seed, which must stay secret; its public half, which begins with 'U', belongs here"
            }
        }
    }

    /// Letters of a public half.
    private static let publicLength = 56
    private static let seedLength = 58
    private static let seedPrefix: UInt8 = 18 << 3

    /// The text of a public half.
    package static func publicText(_ key: [UInt8], _ kind: NKeyKind = .user) -> String { seal([kind.rawValue] + key) }

    /// The text of a seed. It is a secret.
    package static func seedText(_ seed: [UInt8], _ kind: NKeyKind = .user) -> String {
        // The kind's byte is spread over two, so that the text begins with "SU".
        seal([seedPrefix | kind.rawValue >> 5, (kind.rawValue & 31) << 3] + seed)
    }

    /// The text of a user's public half.
    package static func userPublic(_ key: [UInt8]) -> String { publicText(key) }

    /// The text of a user's seed. It is a secret.
    package static func userSeed(_ seed: [UInt8]) -> String { seedText(seed) }

    /// Reads a user's public half: 32 bytes.
    package static func readUserPublic(_ text: String) throws(Fault) -> [UInt8] { try readPublic(text, .user) }

    /// Reads a public half: 32 bytes.
    package static func readPublic(_ text: String, _ kind: NKeyKind) throws(Fault) -> [UInt8] {
        if text.utf8.count == seedLength, text.hasUTF8Prefix("S") { throw .secret }
        let bytes = try open(text, length: publicLength)
        guard bytes[0] == kind.rawValue else { throw .otherKind(String(text.prefix(1))) }
        return Array(bytes.dropFirst())
    }

    /// Reads a user's seed: 32 bytes.
    package static func readUserSeed(_ text: String) throws(Fault) -> [UInt8] { try readSeed(text, .user) }

    /// Reads a seed: 32 bytes.
    package static func readSeed(_ text: String, _ kind: NKeyKind) throws(Fault) -> [UInt8] {
        let bytes = try open(text, length: seedLength)
        guard bytes[0] & 0xf8 == seedPrefix else { throw .otherKind(String(text.prefix(1))) }
        guard (bytes[0] & 7) << 5 | bytes[1] >> 3 == kind.rawValue else { throw .otherKind(String(text.prefix(2))) }
        return Array(bytes.dropFirst(2))
    }

    private static func seal(_ bytes: [UInt8]) -> String {
        let checksum = checksum(bytes)
        return Base32.encode(bytes + [UInt8(truncatingIfNeeded: checksum), UInt8(truncatingIfNeeded: checksum >> 8)])
    }

    private static func open(_ text: String, length: Int) throws(Fault) -> [UInt8] {
        guard text.utf8.count == length, let bytes = Base32.decode(text) else { throw .malformed }
        let (body, end) = (Array(bytes.dropLast(2)), Array(bytes.suffix(2)))
        guard checksum(body) == UInt16(end[0]) | UInt16(end[1]) << 8 else { throw .checksum }
        return body
    }

    /// CRC-16 with polynomial 0x1021 and start 0, as XMODEM has it.
    private static func checksum(_ bytes: [UInt8]) -> UInt16 {
        bytes.reduce(0) { sum, byte in
            (0..<8).reduce(sum ^ UInt16(byte) << 8) { sum, _ in
                sum & 0x8000 != 0 ? sum << 1 ^ 0x1021 : sum << 1
            }
        }
    }
}
