internal import ReachLoop

/// The sockets of one multi handle in epoll. Confined to the loop.
///
/// libcurl takes a socket out after each exchange, and puts it in again for the next one on the same connection. Here it is
/// left in, and taken out when something comes meanwhile: mostly, that the server hung up.
final class CurlSockets {
    private struct Watched {
        var interest: EventLoop.Interest
        /// libcurl waits for it.
        var isWanted = true
        /// An exchange is on it, which is held back.
        var isBusy = false
    }

    private let loop: EventLoop
    /// Told of sockets that libcurl waits for.
    var whenReady: (CInt, EventLoop.Interest) -> Void = { _, _ in }
    /// Called with a socket of no exchange on which something came, when it is watched no more.
    var whenUnasked: (CInt) -> Void = { _ in }
    private var watched: [CInt: Watched] = [:]

    init(loop: EventLoop) { self.loop = loop }

    func wait(for socket: CInt, _ interest: EventLoop.Interest) {
        if let known = watched[socket] {
            let isSame = known.interest == interest
            watched[socket] = Watched(interest: interest)
            // A socket of this number that was closed without a word has left epoll by itself.
            if isSame || (try? loop.change(socket, to: interest)) != nil { return }
            loop.unwatch(socket)
        }
        watched[socket] = Watched(interest: interest)
        try? loop.watch(socket, for: interest) { [unowned self] readiness in
            guard let known = watched[socket], !known.isWanted else { return whenReady(socket, readiness) }
            forget(socket)
            if !known.isBusy { whenUnasked(socket) }
        }
    }

    /// libcurl does not wait for it any more.
    ///
    /// - Parameter isBusy: Only for now.
    func rest(_ socket: CInt, isBusy: Bool) {
        guard var known = watched[socket] else { return }
        known.isWanted = false
        known.isBusy = isBusy
        watched[socket] = known
    }

    /// Before it is closed, and when its number is another socket's.
    func forget(_ socket: CInt) {
        if watched.removeValue(forKey: socket) != nil { loop.unwatch(socket) }
    }

    func forgetAll() {
        watched.keys.forEach(loop.unwatch)
        watched = [:]
    }
}
