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
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0,
            text[text.index(after: colon)...].utf8.allSatisfy({ 0x30...0x39 ~= $0 })
        else { return nil }
        var host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]") && host.count > 2
        if isBracketed { host = host.dropFirst().dropLast() }
        guard let address = IPAddress(String(host)), isBracketed == (address.family == .ipv6) else { return nil }
        self.init(address, port: port)
    }

    package var description: String { address.family == .ipv6 ? "[\(address)]:\(port)" : "\(address):\(port)" }
}
