internal import CNats
internal import ReachFleet

/// A user's nkey: an Ed25519 seed and the public half made from it.
package struct NKeyPair: Sendable {
    /// The seed as NATS writes it, which begins with `SU`. It is a secret.
    package let seed: String
    /// The public half as NATS writes it, which begins with `U`.
    package let publicKey: String

    /// Makes a new key from the system's random numbers.
    package static func generate() throws(NATSError) -> NKeyPair {
        var generator = SystemRandomNumberGenerator()
        return try NKeyPair(
            seed: NKeyText.userSeed((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }))
    }

    /// - Throws: ``NATSError`` of kind `invalid`; it never contains the text.
    package init(seed: String) throws(NATSError) {
        let bytes: [UInt8]
        do throws(NKeyText.Fault) {
            bytes = try NKeyText.readUserSeed(seed)
        } catch {
            throw NATSError(.invalid, "not a seed of a user: \(error.sentence)")
        }
        var half = [UInt8](repeating: 0, count: 32)
        guard reach_ed25519_public(bytes, &half) == 1 else {
            throw NATSError(.failed, "OpenSSL does not make a public half of an Ed25519 seed")
        }
        self.seed = seed
        publicKey = NKeyText.userPublic(half)
    }
}
