internal import ReachCore

/// Which socket a connection is, by its near end, since libcurl does not say.
struct ConnectionEnds {
    private struct NearEnd: Hashable {
        let address: IPAddress
        let port: UInt16
    }

    private var sockets: [NearEnd: CInt] = [:]
    private var ends: [CInt: NearEnd] = [:]
    private var addresses: [String: IPAddress] = [:]

    /// A number that was used before has another meaning now, so there are never more than open sockets.
    mutating func note(_ socket: CInt, isAt address: IPAddress, _ port: UInt16) {
        let end = NearEnd(address: address, port: port)
        if let old = ends.updateValue(end, forKey: socket), sockets[old] == socket { sockets[old] = nil }
        sockets[end] = socket
    }

    func socket(at address: IPAddress, _ port: UInt16) -> CInt? { sockets[NearEnd(address: address, port: port)] }

    /// Reads the text that libcurl has for an address: on connections that are kept it is the same again and again.
    mutating func address(_ text: String) -> IPAddress? {
        if let address = addresses[text] { return address }
        guard let address = IPAddress(text) else { return nil }
        if addresses.count >= 64 { addresses = [:] }
        addresses[text] = address
        return address
    }
}
