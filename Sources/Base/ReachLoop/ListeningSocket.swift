internal import CReachLinux
internal import Glibc
internal import ReachCore

/// Sockets that accept connections over TCP.
package enum ListeningSocket {
    /// Opens one, which whoever calls owns.
    package static func open(at place: ListenAddress, backlog: CInt) throws(SystemError) -> CInt {
        let domain = place.address.family == .ipv4 ? AF_INET : AF_INET6
        let descriptor = reach_stream_socket(domain)
        guard descriptor >= 0 else { throw SystemError(call: "socket", number: -descriptor) }
        do throws(SystemError) {
            var yes: CInt = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
            let address = SocketAddress(address: place.address, port: place.port)
            _ = try SystemError.check("bind") {
                address.withPointer { bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self), $1) }
            }
            _ = try SystemError.check("listen") { listen(descriptor, backlog) }
            return descriptor
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    /// Whether only programs of this machine can connect to it: by a loopback address, or by a path. By AF_VSOCK,
    /// virtual machines and their host connect.
    package static func isLocal(_ descriptor: CInt) -> Bool {
        if let address = SocketAddress.own(of: descriptor) { return address.isLoopback }
        var (domain, length) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
        return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX
    }
}

/// The listening sockets that a service manager passes, as in sd_listen_fds(3), without libsystemd.
package struct PassedSockets {
    private let count: Int

    /// - Parameter environment: Looks up a variable. Variables that name another process are ignored.
    package init(environment: (String) -> String?) {
        let isMine = environment("LISTEN_PID").flatMap { Int32($0) } == getpid()
        count = isMine ? environment("LISTEN_FDS").flatMap { Int($0) } ?? 0 : 0
    }

    /// Descriptors from 3 on, which whoever calls owns.
    package func take() -> [CInt] {
        // Child processes must not take the variables for theirs.
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) }
        return (0..<max(0, min(count, 64))).map { 3 + CInt($0) }
    }
}
