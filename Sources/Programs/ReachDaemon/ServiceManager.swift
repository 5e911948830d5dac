internal import Glibc
internal import ReachCore
internal import ReachLoop

/// The daemon's side of systemd's protocols, without libsystemd: sd_notify(3) and the watchdog.
struct ServiceManager {
    private let socketPath: String?
    private let watchdogInterval: Duration?

    /// - Parameter environment: Looks up a variable. Variables that name another process are ignored.
    init(environment: (String) -> String?) {
        func isMine(_ name: String) -> Bool { environment(name).flatMap { Int32($0) } == getpid() }
        socketPath = environment("NOTIFY_SOCKET")
        let microseconds = environment("WATCHDOG_USEC").flatMap { Int64($0) }
        let isWatched = environment("WATCHDOG_PID") == nil || isMine("WATCHDOG_PID")
        // Half the limit, as sd_watchdog_enabled(3) recommends.
        watchdogInterval = isWatched ? microseconds.map { .microseconds(max($0 / 2, 1000)) } : nil
    }

    /// Sends a notification to the service manager, if there is one. Failures are ignored.
    func notify(_ text: String) {
        guard let socketPath, !socketPath.isEmpty else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        let owner = FileDescriptor(owning: descriptor)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var path = Array(socketPath.utf8)
        if path[0] == UInt8(ascii: "@") { path[0] = 0 }
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let bytes = Array(text.utf8)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(owner.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }

    /// Notifies the watchdog periodically while the loop runs. Without a watchdog there is no timer.
    func feedWatchdog(on loop: EventLoop) {
        guard let watchdogInterval else { return }
        notify("WATCHDOG=1")
        loop.schedule(at: SystemClock.boot + watchdogInterval) { [self] in feedWatchdog(on: loop) }
    }

    /// The time of CLOCK_MONOTONIC, which RELOADING=1 carries.
    static var monotonicMicroseconds: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
    }
}
