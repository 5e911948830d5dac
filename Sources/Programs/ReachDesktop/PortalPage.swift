internal import ReachCore

/// The address of a portal's page that may be opened: of http or https, with a host and nothing that hides it.
///
/// Whoever runs the network chose the text. It becomes an argument of a program and a part of a notification.
package struct PortalPage: Hashable, Sendable {
    package let text: String
    /// Scheme, host and port: what a person has to look at.
    package let origin: String

    package static let longest = 2048

    /// - Returns: `nil` for any other text, such as one with a name and password, which look like the host.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.longest, text.utf8.allSatisfy(Self.isOfURL) else { return nil }
        let pieces = URLPieces(text)
        guard let scheme = pieces.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let authority = pieces.authority, authority.userInformation == nil, Self.isHost(authority.host),
            case .some(let port) = authority.portNumber,
            pieces.path.isEmpty || pieces.path.utf8.first == UInt8(ascii: "/")
        else { return nil }
        self.text = text
        origin = scheme + "://" + authority.host.lowercased() + (port.map { ":\($0)" } ?? "")
    }

    /// Whether a URL may have the byte (RFC 3986, appendix A).
    private static func isOfURL(_ byte: UInt8) -> Bool {
        0x21...0x7e ~= byte && !"\"<>\\^`{|}".utf8.contains(byte)
    }

    private static func isHost(_ host: Substring) -> Bool {
        if host.utf8.first == UInt8(ascii: "[") {
            return host.utf8.last == UInt8(ascii: "]")
                && IPAddress(String(host.dropFirst().dropLast()))?.family == .ipv6
        }
        return !host.isEmpty && host.utf8.count <= 255
            && host.utf8.allSatisfy { byte in
                0x30...0x39 ~= byte || 0x61...0x7a ~= byte | 0x20 || "-._".utf8.contains(byte)
            }
    }
}
