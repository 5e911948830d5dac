internal import Glibc
internal import ReachCore
package import ReachFleet
internal import ReachLoop

/// Who connects.
package enum NATSIdentity: Sendable {
    /// No one in particular; the server may still know the client by its certificate.
    case none
    /// An nkey.
    case key(NKeyPair)
    /// A file with a JWT and its seed, which is read at each connection: whoever renews the token replaces the file.
    case credentials(path: String)
    /// A JWT and its key, in memory.
    case token(NATSToken, NKeyPair)

    /// Reads a file that holds an nkey's seed or a JWT with its seed (`.creds`).
    ///
    /// - Throws: ``NATSError`` of kind `invalid` that names the file: it cannot be read, others may read it, or it
    ///   holds neither.
    package static func read(_ path: String) throws(NATSError) -> NATSIdentity {
        var status = stat()
        guard stat(path, &status) == 0, let text = SmallFile.text(path, limit: 64 * 1024) else {
            throw NATSError(.invalid, "key file '\(path)': \(SystemError.text(errno))")
        }
        // A credential that systemd hands over is 0440, and belongs to a group that only the service has.
        guard status.st_mode & 0o007 == 0 else {
            throw NATSError(.invalid, "key file '\(path)': everyone may read or change it; chmod 600 '\(path)'")
        }
        if text.containsUTF8("BEGIN NATS USER JWT") {
            guard NATSCredentials(text) != nil else {
                throw NATSError(.invalid, "key file '\(path)': credentials without a token or its seed")
            }
            return .credentials(path: path)
        }
        let words = text.textLines.map(\.trimmed)
        guard let seed = words.first(where: { $0.hasUTF8Prefix("S") }).map(String.init) else {
            throw NATSError(.invalid, "key file '\(path)': neither an nkey's seed nor credentials")
        }
        do throws(NATSError) {
            return .key(try NKeyPair(seed: seed))
        } catch {
            throw NATSError(.invalid, "key file '\(path)': \(error.description)")
        }
    }

    /// Whether it signs what the server asks for.
    var signs: Bool {
        if case .none = self { false } else { true }
    }

    /// The key that connects; `nil` if there is none.
    package var keyPair: NKeyPair? {
        switch self {
        case .none: nil
        case .key(let pair), .token(_, let pair): pair
        case .credentials(let path): NATSCredentials.read(path)?.key
        }
    }

    /// The public half of the key that connects; `nil` if there is none.
    package var publicKey: String? { keyPair?.publicKey }
}

/// A JWT and its key, as a `.creds` file has them.
package struct NATSCredentials: Sendable {
    package let token: NATSToken
    package let key: NKeyPair

    package init(token: NATSToken, key: NKeyPair) {
        self.token = token
        self.key = key
    }

    package static func read(_ path: String) -> NATSCredentials? {
        SmallFile.text(path, limit: 64 << 10).flatMap(NATSCredentials.init)
    }

    /// Reads the text of a file; `nil` if it lacks one of them, or if they do not belong together.
    package init?(_ text: String) {
        let lines = text.textLines.map { String($0.trimmed) }
        guard let begin = lines.firstIndex(where: { $0.containsUTF8("BEGIN NATS USER JWT") }), begin + 1 < lines.count,
            let token = try? NATSToken(lines[begin + 1]),
            let seed = lines.first(where: { $0.hasUTF8Prefix("SU") }), let key = try? NKeyPair(seed: seed),
            key.publicKey == token.subject
        else { return nil }
        self.init(token: token, key: key)
    }

    /// The text of a file. It is a secret.
    package var text: String {
        """
        -----BEGIN NATS USER JWT-----
        \(token.text)
        ------END NATS USER JWT------

        ************************* IMPORTANT *************************
        Whoever has the seed below can act as its owner.

        -----BEGIN USER NKEY SEED-----
        \(key.seed)
        ------END USER NKEY SEED------

        *************************************************************

        """
    }
}
