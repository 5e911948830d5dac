internal import CNetlink
internal import Glibc
internal import ReachCore

/// The part of a question for sockets that the kernel itself answers: a program of conditions on addresses
/// (INET_DIAG_REQ_BYTECODE), which is run for each socket, so that hardly any of a hundred thousand is told of.
///
/// Each operation names how many bytes to go on if it holds, which must be its own length, and how many if it does not.
/// A program that ends exactly at its end takes the socket; one that goes four bytes beyond does not
/// (`inet_diag_bc_run`, `inet_diag_bc_audit`).
struct SocketConditions {
    private(set) var bytes: [UInt8] = []

    /// The near end is one of `sources`, of which there must be one, and the far end in none of `prefixes`. Conditions of
    /// IPv4 also hold for its addresses in IPv6 sockets (`::ffff:192.0.2.1`).
    init(sources: [IPAddress], excluding prefixes: [IPPrefix]) {
        let hosts = sources.compactMap { IPPrefix($0, length: $0.family.bitCount) }
        let hostSizes = hosts.map(Self.size)
        var untilExclusions = hostSizes.reduce(0, +) + (hosts.count - 1) * Self.jumpBytes
        var untilEnd = untilExclusions + prefixes.map { Self.size(of: $0) + Self.jumpBytes }.reduce(0, +)
        bytes.reserveCapacity(untilEnd)
        for (index, host) in hosts.enumerated() {
            let isLast = index == hosts.count - 1
            let blockBytes = hostSizes[index] + (isLast ? 0 : Self.jumpBytes)
            // Not from here: the next may hold; after the last, none does.
            append(INET_DIAG_BC_S_COND, host, otherwise: isLast ? untilEnd + Self.refusal : blockBytes)
            // From here: the other sources need not be looked at.
            if !isLast { appendJump(untilExclusions - hostSizes[index]) }
            untilExclusions -= blockBytes
            untilEnd -= blockBytes
        }
        for prefix in prefixes {
            let size = Self.size(of: prefix)
            append(INET_DIAG_BC_D_COND, prefix, otherwise: size + Self.jumpBytes)
            appendJump(untilEnd - size + Self.refusal)
            untilEnd -= size + Self.jumpBytes
        }
    }

    /// How far beyond the end a program goes to refuse.
    private static let refusal = 4
    private static let jumpBytes = MemoryLayout<inet_diag_bc_op>.size

    private static let hostConditionBytes = 8
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
