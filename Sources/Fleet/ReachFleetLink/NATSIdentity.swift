internal import Glibc
internal import ReachCore
internal import ReachLoop

/// Who connects.
package enum NATSIdentity: Sendable {
    /// No one in particular; the server may still know the client by its certificate.
    case none
    /// An nkey.
    case key(NKeyPair)
    /// A file with a JWT and its seed, which libnats reads at each connection.
    case credentials(path: String)

    /// Reads a file that holds an nkey's seed or a JWT with its seed (`.creds`).
    ///
    /// - Throws: ``NATSError`` of kind `invalid` that names the file: it cannot be read, others may read it, or it holds
    ///   neither.
    package static func read(_ path: String) throws(NATSError) -> NATSIdentity {
        var status = stat()
        guard stat(path, &status) == 0, let text = SmallFile.text(path, limit: 64 * 1024) else {
            throw NATSError(.invalid, "key file '\(path)': \(SystemError.text(errno))")
        }
        // A credential that systemd hands over is 0440, and belongs to a group that only the service has.
        guard status.st_mode & 0o007 == 0 else {
            throw NATSError(.invalid, "key file '\(path)': everyone may read or change it; chmod 600 '\(path)'")
        }
        if text.containsUTF8("BEGIN NATS USER JWT") { return .credentials(path: path) }
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
}
