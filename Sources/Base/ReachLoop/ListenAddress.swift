package import ReachCore

/// An address and a TCP port to listen on.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    package let address: IPAddress
    package let port: UInt16

    package init(_ address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// Parses `127.0.0.1:9101` or `[::1]:9101`.
    package init?(_ text: String) {
        guard let colon = text.unicodeScalars.lastIndex(of: ":") else { return nil }
        let digits = text[text.unicodeScalars.index(after: colon)...]
        guard let port = UInt16(digits), port > 0, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        var host = text[..<colon]
        let isBracketed = host.hasUTF8Prefix("[") && host.hasUTF8Suffix("]") && host.count > 2
        if isBracketed { host = host.dropFirst().dropLast() }
        guard let address = IPAddress(String(host)), isBracketed == (address.family == .ipv6) else { return nil }
        self.init(address, port: port)
    }

    package var description: String { address.family == .ipv6 ? "[\(address)]:\(port)" : "\(address):\(port)" }
}
