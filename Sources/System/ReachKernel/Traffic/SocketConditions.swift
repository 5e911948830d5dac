internal import CNetlink
internal import Glibc
internal import ReachCore

/// The conditions that the kernel checks for each socket: a program on addresses (INET_DIAG_REQ_BYTECODE), so that the
/// kernel reports hardly any of a hundred thousand sockets.
///
/// Each operation has two jump distances in bytes: one if its condition holds, which must be its own length, and one if
/// it does not. A program that stops exactly at its end accepts the socket; one that jumps four bytes further rejects
/// it (`inet_diag_bc_run`, `inet_diag_bc_audit`).
struct SocketConditions {
    private(set) var bytes: [UInt8] = []

    /// Accepts sockets whose local address is one of `sources`, which must not be empty, and whose remote address is in
    /// none of `prefixes`. IPv4 conditions also hold for IPv4 addresses of IPv6 sockets (`::ffff:192.0.2.1`).
    ///
    /// Beyond ``sourceLimit`` and ``prefixLimit`` they are left out, since distances have 16 bits: an interface with
    /// so many addresses is not met in use.
    init(sources: [IPAddress], excluding prefixes: [IPPrefix]) {
        let sources = sources.prefix(Self.sourceLimit)
        var known: Set<IPPrefix> = []
        let prefixes = prefixes.filter { known.insert($0).inserted }.prefix(Self.prefixLimit)
        let hosts = sources.compactMap { IPPrefix($0, length: $0.family.bitCount) }
        let hostSizes = hosts.map(Self.size)
        var untilExclusions = hostSizes.reduce(0, +) + (hosts.count - 1) * Self.jumpBytes
        var untilEnd = untilExclusions + prefixes.map { Self.size(of: $0) + Self.jumpBytes }.reduce(0, +)
        bytes.reserveCapacity(untilEnd)
        for (index, host) in hosts.enumerated() {
            let isLast = index == hosts.count - 1
            let blockBytes = hostSizes[index] + (isLast ? 0 : Self.jumpBytes)
            // If it does not match, try the next source; after the last one, reject.
            append(INET_DIAG_BC_S_COND, host, otherwise: isLast ? untilEnd + Self.rejection : blockBytes)
            // If it matches, skip the other sources.
            if !isLast { appendJump(untilExclusions - hostSizes[index]) }
            untilExclusions -= blockBytes
            untilEnd -= blockBytes
        }
        for prefix in prefixes {
            let size = Self.size(of: prefix)
            append(INET_DIAG_BC_D_COND, prefix, otherwise: size + Self.jumpBytes)
            appendJump(untilEnd - size + Self.rejection)
            untilEnd -= size + Self.jumpBytes
        }
    }

    /// The distance beyond the end of the program that means rejection.
    private static let rejection = 4
    private static let jumpBytes = MemoryLayout<inet_diag_bc_op>.size

    private static let hostConditionBytes = 8
    /// Together at most 20 KiB: each has up to 32 bytes.
    private static let sourceLimit = 64
    private static let prefixLimit = 512
    private static let anyPort: Int32 = -1

    private static func size(of prefix: IPPrefix) -> Int {
        jumpBytes + hostConditionBytes + prefix.address.family.bitCount / 8
    }

    private mutating func append(_ code: Int, _ prefix: IPPrefix, otherwise: Int) {
        append(inet_diag_bc_op(code: UInt8(code), yes: UInt8(Self.size(of: prefix)), no: UInt16(otherwise)))
        // struct inet_diag_hostcond, which Swift cannot make since it ends in an array of no size.
        bytes += [KernelQueries.number(of: prefix.address.family), UInt8(prefix.length), 0, 0]
        append(Self.anyPort)
        bytes += prefix.address.bytes
    }

    private mutating func appendJump(_ distance: Int) {
        append(inet_diag_bc_op(code: UInt8(INET_DIAG_BC_JMP), yes: UInt8(Self.jumpBytes), no: UInt16(distance)))
    }

    private mutating func append(_ value: some BitwiseCopyable) {
        withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
    }
}
