internal import ReachCore

/// The sockets of connections by their local address and port: libcurl does not give the socket of a reused connection.
struct ConnectionEnds {
    private struct LocalEnd: Hashable {
        let address: IPAddress
        let port: UInt16
    }

    private var sockets: [LocalEnd: CInt] = [:]
    private var ends: [CInt: LocalEnd] = [:]
    private var addresses: [String: IPAddress] = [:]

    /// Sets the local end of a socket. The number of a closed socket is used again, so there are never more entries
    /// than open sockets.
    mutating func note(_ socket: CInt, isAt address: IPAddress, _ port: UInt16) {
        let end = LocalEnd(address: address, port: port)
        if let old = ends.updateValue(end, forKey: socket), sockets[old] == socket { sockets[old] = nil }
        sockets[end] = socket
    }

    func socket(at address: IPAddress, _ port: UInt16) -> CInt? { sockets[LocalEnd(address: address, port: port)] }

    /// Parses an address as libcurl writes it, with a cache: the texts of kept connections repeat.
    mutating func address(_ text: String) -> IPAddress? {
        if let address = addresses[text] { return address }
        guard let address = IPAddress(text) else { return nil }
        if addresses.count >= 64 { addresses = [:] }
        addresses[text] = address
        return address
    }
}
