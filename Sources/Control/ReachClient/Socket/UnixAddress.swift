internal import Glibc
package import ReachLoop

/// The path of a Unix socket as a socket address. Hides the fixed 108 bytes of `sun_path` (unix(7)).
package struct UnixAddress: Sendable {
    private var address = sockaddr_un()

    /// The longest path, including its NUL.
    package static let pathLimit = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    /// - Returns: `nil` if the path is empty, too long, or contains a NUL.
    package init?(_ path: String) {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count < Self.pathLimit, !bytes.contains(0) else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    }

    package func bind(_ socket: CInt) throws(SystemError) {
        _ = try SystemError.check("bind") { call(socket) { Glibc.bind(socket, $0, $1) } }
    }

    package func connect(_ socket: CInt) throws(SystemError) {
        _ = try SystemError.check("connect") { call(socket) { Glibc.connect(socket, $0, $1) } }
    }

    /// Sends a datagram without waiting.
    ///
    /// - Returns: Whether all of it was taken.
    package func send(_ bytes: [UInt8], from socket: CInt) -> Bool {
        let flags = CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL)
        return bytes.withUnsafeBytes { bytes in
            call(socket) { CInt(sendto(socket, bytes.baseAddress, bytes.count, flags, $0, $1)) } == bytes.count
        }
    }

    private func call(_ socket: CInt, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        withUnsafePointer(to: address) { whole in
            whole.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Makes a Unix stream socket, which child processes do not inherit.
    package static func socket(isBlocking: Bool) throws(SystemError) -> CInt {
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | (isBlocking ? 0 : SOCK_NONBLOCK.rawValue)
        return try SystemError.check("socket") { Glibc.socket(AF_UNIX, CInt(type), 0) }
    }
}
