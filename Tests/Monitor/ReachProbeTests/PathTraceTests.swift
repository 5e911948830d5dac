import CReachLinux
import ReachCore
import Testing

@testable import ReachProbe

/// What ICMP errors say about the way to a host.
@Suite struct PathTraceTests {
    private static let host = "198.51.100.80"
    private static let host6 = "2001:db8:80::80"

    private static func error(
        _ type: UInt8, _ code: UInt8, from sender: String, at distance: UInt16 = 1
    ) throws -> reach_icmp_error {
        let address = try #require(IPAddress(sender))
        var error = reach_icmp_error()
        error.is_ipv6 = address.family == .ipv6 ? 1 : 0
        (error.type, error.code, error.port) = (type, code, TraceAttempt.firstPort + distance)
        withUnsafeMutableBytes(of: &error.offender) { $0.copyBytes(from: address.bytes) }
        return error
    }

    private static func trace(_ errors: [reach_icmp_error], to host: String = host) throws -> PathTrace {
        var trace = PathTrace()
        let address = try #require(IPAddress(host))
        for error in errors { trace.note(error, of: address) }
        return trace
    }

    private static func at(_ text: String) -> IPAddress { IPAddress(text) ?? IPAddress(ipv4: 0) }

    private static let router = at("192.0.2.1")
    private static let router6 = at("2001:db8::1")

    @Test(
        arguments: [
            (11, 0, PathTrace(hops: [.init(distance: 1, address: router)])),
            (11, 1, PathTrace(hops: [.init(distance: 1, address: router)])),
            // Only the host itself says that it has no such port.
            (3, 3, PathTrace()), (3, 4, PathTrace()), (12, 0, PathTrace()), (0, 0, PathTrace()),
            (3, 9, PathTrace(end: .prohibited(by: router))), (3, 10, PathTrace(end: .prohibited(by: router))),
            (3, 13, PathTrace(end: .prohibited(by: router))), (3, 14, PathTrace(end: .prohibited(by: router))),
            (3, 7, PathTrace(end: .unreachable(by: router), isHostMissing: true)),
            (3, 12, PathTrace(end: .unreachable(by: router), isHostMissing: true)),
            (3, 0, PathTrace(end: .unreachable(by: router))),
            (3, 1, PathTrace(end: .unreachable(by: router), isHostMissing: true)),
        ] as [(UInt8, UInt8, PathTrace)])
    func `each error of IPv4 has its meaning`(type: UInt8, code: UInt8, expected: PathTrace) throws {
        #expect(try Self.trace([Self.error(type, code, from: "192.0.2.1")]) == expected)
    }

    @Test(
        arguments: [
            (3, 0, PathTrace(hops: [.init(distance: 1, address: router6)])), (1, 4, PathTrace()), (2, 0, PathTrace()),
            (1, 1, PathTrace(end: .prohibited(by: router6))), (1, 5, PathTrace(end: .prohibited(by: router6))),
            (1, 6, PathTrace(end: .prohibited(by: router6))), (1, 0, PathTrace(end: .unreachable(by: router6))),
            (1, 3, PathTrace(end: .unreachable(by: router6), isHostMissing: true)),
        ] as [(UInt8, UInt8, PathTrace)])
    func `each error of IPv6 has its meaning`(type: UInt8, code: UInt8, expected: PathTrace) throws {
        #expect(try Self.trace([Self.error(type, code, from: "2001:db8::1")], to: Self.host6) == expected)
    }

    @Test func `the host is reached when it has no such port, whatever was said before and after`() throws {
        for (host, type, code) in [(Self.host, 3, 3), (Self.host6, 1, 4)] as [(String, UInt8, UInt8)] {
            let (router, unreachable, prohibited): (String, UInt8, UInt8) =
                host == Self.host ? ("192.0.2.1", 0, 13) : ("2001:db8::1", 0, 1)
            let others = try [unreachable, prohibited].map { try Self.error(type, $0, from: router) }
            let reached = try Self.error(type, code, from: host, at: 66)
            #expect(try Self.trace(others + [reached] + others, to: host).end == .reached)
        }
    }

    @Test func `who forbids outweighs who has no way, and the first of those counts`() throws {
        let (lost, other) = (try Self.error(3, 0, from: "192.0.2.1"), try Self.error(3, 1, from: "192.0.2.9"))
        #expect(try Self.trace([lost, other]) == PathTrace(end: .unreachable(by: Self.router)))
        let forbidden = try Self.error(3, 13, from: "192.0.2.9")
        let end = PathTrace.End.prohibited(by: Self.at("192.0.2.9"))
        #expect(try Self.trace([lost, forbidden]).end == end && Self.trace([forbidden, lost]).end == end)
    }

    @Test func `a distance has one router, and what was sent farther has none`() throws {
        let first = try Self.error(11, 0, from: "192.0.2.1", at: 8)
        let trace = try Self.trace([first, Self.error(11, 0, from: "192.0.2.9", at: 8)])
        #expect(trace.hops == [.init(distance: 8, address: Self.router)])
        for distance in [0, 9, 66] as [UInt16] {
            #expect(try Self.trace([Self.error(11, 0, from: "192.0.2.1", at: distance)]) == PathTrace())
        }
    }

    @Test(arguments: [("0.0.0.0", 11), ("::", 3)] as [(String, UInt8)])
    func `an error without a sender names no router`(sender: String, type: UInt8) throws {
        #expect(try Self.trace([Self.error(type, 0, from: sender)]) == PathTrace())
    }
}
