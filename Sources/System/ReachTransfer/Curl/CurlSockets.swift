internal import ReachLoop

/// The sockets of one multi handle in epoll. Confined to the loop.
///
/// libcurl stops waiting for a socket after each exchange, and starts again for the next one on the same connection.
/// Here it stays in epoll, and leaves it when it becomes readable meanwhile: mostly because the server hung up.
final class CurlSockets {
    private struct Watched {
        var interest: EventLoop.Interest
        /// Whether libcurl waits for it.
        var isWanted = true
        /// Whether it has an exchange that is held back.
        var isBusy = false
        /// Whether it has left epoll until ``CurlSockets/restore(_:)``.
        var isSuspended = false
    }

    private let loop: EventLoop
    /// Called with a ready socket that libcurl waits for.
    var onReady: (CInt, EventLoop.Interest) -> Void = { _, _ in }
    /// Called with a readable socket that has no exchange, after it has left epoll.
    var onUnexpected: (CInt) -> Void = { _ in }
    private var watched: [CInt: Watched] = [:]

    init(loop: EventLoop) { self.loop = loop }

    func wait(for socket: CInt, _ interest: EventLoop.Interest) {
        if let entry = watched[socket] {
            let isSame = entry.interest == interest
            watched[socket] = Watched(interest: interest, isSuspended: entry.isSuspended)
            if entry.isSuspended { return }
            // A closed socket of this number left epoll by itself.
            if isSame || (try? loop.change(socket, to: interest)) != nil { return }
            loop.unwatch(socket)
        }
        watched[socket] = Watched(interest: interest)
        watch(socket, for: interest)
    }

    private func watch(_ socket: CInt, for interest: EventLoop.Interest) {
        try? loop.watch(socket, for: interest) { [unowned self] readiness in
            guard let entry = watched[socket], !entry.isWanted else { return onReady(socket, readiness) }
            forget(socket)
            if !entry.isBusy { onUnexpected(socket) }
        }
    }

    /// libcurl stops waiting for the socket.
    ///
    /// - Parameter isBusy: It waits again later: the exchange is held back.
    func rest(_ socket: CInt, isBusy: Bool) {
        guard var entry = watched[socket] else { return }
        entry.isWanted = false
        // Newer versions of libcurl read a quick response before they have waited for it. A connection can always be
        // written.
        if entry.interest.contains(.writable), (try? loop.change(socket, to: .readable)) != nil {
            entry.interest = .readable
        }
        entry.isBusy = isBusy
        watched[socket] = entry
    }

    /// Has a socket wait, whatever arrives.
    func suspend(_ socket: CInt) {
        guard watched[socket]?.isSuspended == false else { return }
        watched[socket]?.isSuspended = true
        loop.unwatch(socket)
    }

    /// Ends ``suspend(_:)``.
    func restore(_ socket: CInt) {
        guard let entry = watched[socket], entry.isSuspended else { return }
        watched[socket]?.isSuspended = false
        watch(socket, for: entry.interest)
    }

    /// Removes a socket that is closed next.
    func forgetClosing(_ socket: CInt) {
        if watched.removeValue(forKey: socket) != nil { loop.forgetClosing(socket) }
    }

    /// Removes a socket, when its number belongs to another one.
    func forget(_ socket: CInt) {
        if watched.removeValue(forKey: socket) != nil { loop.unwatch(socket) }
    }

    func forgetAll() {
        watched.keys.forEach(loop.unwatch)
        watched = [:]
    }
}
