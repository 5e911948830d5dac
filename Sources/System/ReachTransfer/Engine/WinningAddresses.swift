internal import ReachCore

/// The addresses that were connected to before the first one of their host was (RFC 8305 section 9.2), in this network:
/// a value. What connects at once to its first address leaves no entry.
struct WinningAddresses {
    private struct Host: Hashable {
        let name: String
        let port: UInt16
    }

    private var entries: [Host: (address: IPAddress, end: BootTime)] = [:]

    /// As long as RFC 8305 suggests: what was broken may be mended.
    private static let lifetime = Duration.seconds(600)
    private static let limit = 1024

    /// Notes which address of a host was connected to first.
    ///
    /// - Parameter first: The address that would have been preferred.
    mutating func note(_ winner: IPAddress, of url: TransferURL, insteadOf first: IPAddress, at now: BootTime) {
        let host = Host(name: url.host, port: url.port)
        guard winner != first else {
            if !entries.isEmpty { entries[host] = nil }
            return
        }
        if entries.count >= Self.limit { entries = entries.filter { $0.value.end > now } }
        if entries.count >= Self.limit { entries = [:] }
        entries[host] = (winner, now + Self.lifetime)
    }

    /// The addresses of a host, with the one that won before, or another one of its family, first.
    func ordered(_ addresses: [IPAddress], of url: TransferURL, at now: BootTime) -> [IPAddress] {
        guard !entries.isEmpty, addresses.count > 1,
            let entry = entries[Host(name: url.host, port: url.port)], entry.end > now,
            let place = addresses.firstIndex(of: entry.address)
                ?? addresses.firstIndex(where: { $0.family == entry.address.family })
        else { return addresses }
        var ordered = addresses
        ordered.insert(ordered.remove(at: place), at: 0)
        return ordered
    }

    /// Another network has other paths.
    mutating func removeAll() { entries = [:] }
}
