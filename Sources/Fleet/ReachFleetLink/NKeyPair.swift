internal import CNats
package import ReachFleet

/// An nkey: an Ed25519 seed and the public half made from it.
package struct NKeyPair: Sendable {
    /// The seed as NATS writes it, which begins with `SU` for a user. It is a secret.
    package let seed: String
    /// The public half as NATS writes it, which begins with `U` for a user.
    package let publicKey: String
    private let secret: [UInt8]

    /// Makes a new key from the system's random numbers.
    package static func generate(_ kind: NKeyKind = .user) throws(NATSError) -> NKeyPair {
        var generator = SystemRandomNumberGenerator()
        return try NKeyPair(
            seed: NKeyText.seedText((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }, kind),
            kind)
    }

    /// - Throws: ``NATSError`` of kind `invalid`; it never contains the text.
    package init(seed: String, _ kind: NKeyKind = .user) throws(NATSError) {
        let bytes: [UInt8]
        do throws(NKeyText.Fault) {
            bytes = try NKeyText.readSeed(seed, kind)
        } catch {
            throw NATSError(
                .invalid, kind == .user ? "not a seed of a user: \(error.sentence)" : "not a seed of that kind of key")
        }
        var half = [UInt8](repeating: 0, count: 32)
        guard reach_ed25519_public(bytes, &half) == 1 else {
            throw NATSError(.failed, "OpenSSL does not make a public half of an Ed25519 seed")
        }
        self.seed = seed
        secret = bytes
        publicKey = NKeyText.publicText(half, kind)
    }

    /// Signs claims.
    package func sign(_ claims: NATSClaims) throws(NATSError) -> NATSToken {
        try claims.signed(hashedBy: SHA256.hash) { text throws(NATSError) in try signature(of: text) }
    }

    private func signature(of text: String) throws(NATSError) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: 64)
        let bytes = Array(text.utf8)
        guard reach_ed25519_sign(secret, bytes, bytes.count, &signature) == 1 else {
            throw NATSError(.failed, "OpenSSL does not sign with an Ed25519 seed")
        }
        return signature
    }
}

extension NATSToken {
    /// Whether the key that the token names as its issuer has signed it.
    package func isSigned(by kind: NKeyKind) -> Bool {
        guard let key = try? NKeyText.readPublic(issuer, kind), signature.count == 64 else { return false }
        let text = Array(signedText.utf8)
        return reach_ed25519_verify(key, text, text.count, signature) == 1
    }
}
