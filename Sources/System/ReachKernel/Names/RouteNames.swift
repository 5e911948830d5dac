internal import CNetlinkRoute

/// The names that libnl-route-3 and /etc/iproute2 give to numbers of routes. The library is loaded at the first call,
/// so only `reach explain` pays for it.
enum RouteNames {
    /// The names of routing tables; a table without one is left out.
    static func tables(_ numbers: Set<UInt32>) -> [UInt32: String] {
        names(numbers) { reach_route_table_name(CInt(bitPattern: $0), $1, $2) }
    }

    /// The names of what creates routes (`RTPROT_*`).
    static func origins(_ numbers: Set<UInt8>) -> [UInt8: String] {
        names(numbers) { reach_route_protocol_name(CInt($0), $1, $2) }
    }

    private static func names<Number: Hashable>(
        _ numbers: Set<Number>, _ convert: (Number, UnsafeMutablePointer<CChar>, Int) -> UnsafePointer<CChar>?
    ) -> [Number: String] {
        var names: [Number: String] = [:]
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let start = buffer.baseAddress else { return }
            for number in numbers { names[number] = convert(number, start, buffer.count).map { String(cString: $0) } }
        }
        return names
    }
}
