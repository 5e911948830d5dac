internal import ReachCore

/// The address of a NATS server: `tls://HOST:PORT`, or `nats://HOST:PORT` on this machine.
package struct NATSServer: Hashable, Sendable, CustomStringConvertible {
    package let isEncrypted: Bool
    /// As in the URL: an IPv6 address has brackets.
    package let host: String
    package let port: UInt16

    package static let standardPort: UInt16 = 4222

    package var description: String { "\(isEncrypted ? "tls" : "nats")://\(host):\(port)" }

    /// Reads a URL. Without a scheme it means `tls`.
    ///
    /// - Throws: ``NATSError`` of kind `invalid` that names the URL and what is wrong: another scheme, a user or a path
    ///   in it, or a plain connection that would leave this machine.
    package init(_ text: String) throws(NATSError) {
        let mark = text.utf8Range(of: "://")
        let scheme = mark.map { text[..<$0.lowerBound].lowercased() } ?? "tls"
        guard scheme == "tls" || scheme == "nats" else { throw Self.fault(text, Self.schemeSentence(scheme)) }
        var rest = text[(mark?.upperBound ?? text.startIndex)...]
        if rest.hasUTF8Suffix("/") { rest.removeLast() }
        guard !rest.unicodeScalars.contains("@") else {
            throw Self.fault(text, "a key file, not a user in the URL, says who connects")
        }
        guard let (host, port) = Self.split(rest) else { throw Self.fault(text, "HOST or HOST:PORT expected") }
        guard scheme == "tls" || Self.isLoopback(host) else {
            throw Self.fault(text, "a connection without TLS must stay on this machine; use tls://")
        }
        self.host = host
        self.port = port
        isEncrypted = scheme == "tls"
    }

    private static func schemeSentence(_ scheme: String) -> String {
        switch scheme {
        case "ws", "wss": "libnats does not speak WebSocket; use tls://"
        default: "the scheme must be tls, or nats on this machine"
        }
    }

    private static func fault(_ text: String, _ sentence: String) -> NATSError {
        NATSError(.invalid, "server '\(text)': \(sentence)")
    }

    private static func split(_ text: Substring) -> (host: String, port: UInt16)? {
        if text.hasUTF8Prefix("[") {
            guard let end = text.unicodeScalars.firstIndex(of: "]"), IPAddress(String(text[..<end].dropFirst())) != nil
            else {
                return nil
            }
            return port(text[text.unicodeScalars.index(after: end)...]).map { (String(text[...end]), $0) }
        }
        let colon = text.unicodeScalars.firstIndex(of: ":") ?? text.endIndex
        let host = text[..<colon]
        let isName = host.utf8.allSatisfy { $0.isLetterOrDigit || "-._".utf8.contains($0) }
        guard !host.isEmpty, isName else { return nil }
        return port(text[colon...]).map { (String(host), $0) }
    }

    private static func port(_ text: Substring) -> UInt16? {
        guard !text.isEmpty else { return standardPort }
        guard text.hasUTF8Prefix(":"), let number = UInt16(text.dropFirst()), number > 0 else { return nil }
        return number
    }

    /// The address without its brackets, if it has some.
    var bracketedAddress: String? { host.hasUTF8Prefix("[") ? String(host.dropFirst().dropLast()) : nil }

    /// Whether the address is this machine's.
    package var isLoopback: Bool { Self.isLoopback(host) }

    private static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "[::1]" || host.hasUTF8Prefix("127.") && IPAddress(host) != nil
    }
}
