internal import Glibc
internal import ReachTesting

/// The socket on which a service manager listens (NOTIFY_SOCKET of sd_notify(3)).
final class NotifySocket {
    struct Failure: Error {}

    let path: String
    private let descriptor: CInt

    init(at path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0, Self.bind(descriptor, path) == 0 else { throw Failure() }
    }

    deinit { close(descriptor) }

    /// The next message's lines.
    ///
    /// - Throws: An error if there is none in time.
    func next(within milliseconds: CInt = 10_000) throws -> [String] {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard Glibc.poll(&poll, 1, milliseconds) > 0 else { throw Failure() }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = max(0, recv(descriptor, &bytes, bytes.count, 0))
        return String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static func bind(_ descriptor: CInt, _ path: String) -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
