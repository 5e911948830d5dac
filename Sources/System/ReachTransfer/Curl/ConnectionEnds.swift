internal import ReachCore

/// The sockets of connections by their addresses and ports: libcurl does not give the socket of a reused connection.
struct ConnectionEnds {
    /// Both ends: the kernel gives one local port to connections to several servers.
    struct Ends: Hashable {
        let local: IPAddress
        let localPort: UInt16
        let remote: IPAddress
        let remotePort: UInt16
    }

    private var sockets: [Ends: CInt] = [:]
    private var ends: [CInt: Ends] = [:]
    private var addresses: [String: IPAddress] = [:]

    /// Sets the ends of a socket. The number of a closed socket is used again, so there are never more entries than
    /// open sockets.
    mutating func note(_ socket: CInt, has new: Ends) {
        if let old = ends.updateValue(new, forKey: socket), sockets[old] == socket { sockets[old] = nil }
        sockets[new] = socket
    }

    func socket(of ends: Ends) -> CInt? { sockets[ends] }

    /// Parses an address as libcurl writes it, with a cache: the texts of kept connections repeat.
    mutating func address(_ text: String) -> IPAddress? {
        if let address = addresses[text] { return address }
        guard let address = IPAddress(text) else { return nil }
        if addresses.count >= 64 { addresses = [:] }
        addresses[text] = address
        return address
    }
}
