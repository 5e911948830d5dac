package import ReachCore
package import ReachLoop

/// Watches the kernel from an event loop: keeps a ``KernelView`` current, and says when it may have changed.
///
/// When notices are lost it reads everything anew and says so; when the kernel cannot be listened to it polls; when it
/// cannot be asked at all it says that it is blind, and tries again.
package final class KernelObserver {
    package enum Event {
        /// The view may differ from what it was, for these reasons.
        case changed([NetworkTable.Effect])
        /// Notices were lost; the view is whole again.
        case resynced(NetlinkError)
        /// The kernel cannot be observed until the next event of another kind.
        case blind(NetlinkError)
        /// A notice as it came, where every one was asked for.
        case notice(Notice)
    }

    package struct Options: Sendable {
        package var policy = LinkPolicy()
        /// Every notice is wanted, those that cannot matter included.
        package var wantsEveryNotice = false
        package var receiveBufferBytes = NoticeSocket.defaultBufferBytes

        package init() {}
    }

    /// How often to look where the kernel answers but does not tell (Tailscale polls as often where it must).
    package static let pollInterval: Duration = .seconds(10)
    /// Everything is read anew at most this often, however much is lost (NetworkManager waits as long).
    package static let resyncInterval: Duration = .seconds(1)

    /// `nil` until the kernel could be asked for the first time.
    package private(set) var view: KernelView?
    private let loop: EventLoop
    private let options: Options
    private let handler: (Event) -> Void
    private var socket: NoticeSocket?
    private var targets: Set<IPAddress> = []
    private var installed = SocketFilter()
    /// Neighbours whose notices pass. Those that no path needs any more stay for a while: to replace the filter costs
    /// the kernel a compilation, more than all the rest of a change.
    private var neighbours: Set<Neighbour.Key> = []
    private static let neighbourLimit = 64
    private var backoff = Backoff(first: .seconds(1), longest: .seconds(30))
    private var retry: TimerQueue.ID?
    private var lastResync: BootTime?

    package init(loop: EventLoop, options: Options = Options(), handler: @escaping (Event) -> Void) {
        self.loop = loop
        self.options = options
        self.handler = handler
    }

    deinit {
        if let socket { loop.unwatch(socket.descriptor) }
        if let retry { loop.cancel(retry) }
    }

    /// The kernel tells of changes; otherwise it is polled, or cannot be observed.
    package var isListening: Bool { socket != nil }

    /// What SO_RCVBUF came to, in bytes as the kernel counts them.
    package var receiveBufferBytes: Int? { socket?.receiveBufferBytes }

    /// Subscribes, then reads everything, in this order: nothing falls between.
    ///
    /// - Throws: Why the kernel cannot be observed now. It is tried again, and the handler told.
    package func start() throws(NetlinkError) {
        do throws(NetlinkError) {
            try open()
        } catch {
            close()
            scheduleRetry()
            throw error
        }
    }

    /// Routes that cover these addresses may matter; others are dropped in the kernel.
    package func watch(targets: Set<IPAddress>) {
        self.targets = targets
        updateFilter()
    }

    /// The paths depend on these neighbours: notices of them must pass from now on. To be called after every look.
    package func depend(on needed: Set<Neighbour.Key>) {
        let missing = needed.subtracting(neighbours)
        guard let view, !missing.isEmpty else { return }
        neighbours = neighbours.count + missing.count > Self.neighbourLimit ? needed : neighbours.union(missing)
        view.keepNeighbours(neighbours)
        updateFilter()
        attempt { () throws(NetlinkError) in
            // It may have changed since it was first asked about, and before notices of it passed.
            var effects: [NetworkTable.Effect] = []
            for key in missing where try view.ask(key) {
                effects.append(NetworkTable.Effect(cause: .neighbour, interface: key.interface))
            }
            if !effects.isEmpty { handler(.changed(effects)) }
        }
    }

    /// Looks at everything anew, as after sleep.
    package func refresh(because cause: Cause) {
        guard let view else { return }
        attempt {
            () throws(NetlinkError) in
            try view.refresh()
            handler(.changed([NetworkTable.Effect(cause: cause, interface: nil)]))
        }
    }

    private func open() throws(NetlinkError) {
        let view = if let held = self.view { held } else { try KernelView(policy: options.policy) }
        do throws(NetlinkError) {
            let filter = SocketFilter(targets: targets, neighbours: neighbours)
            let socket = try NoticeSocket(
                filter: options.wantsEveryNotice ? nil : filter, bufferBytes: options.receiveBufferBytes)
            installed = filter
            self.socket = socket
            try? loop.watch(socket.descriptor, for: .readable) { [unowned self] _ in readNotices() }
        } catch .forbidden {
            schedulePoll()
        }
        try view.refresh()
        self.view = view
        backoff.reset()
    }

    private func updateFilter() {
        guard let socket, !options.wantsEveryNotice else { return }
        let filter = SocketFilter(targets: targets, neighbours: neighbours)
        guard filter != installed else { return }
        installed = filter
        attempt { () throws(NetlinkError) in try socket.replace(filter: filter) }
    }

    /// Folds what is queued. A change of links or addresses is told of while the kernel is still at work on it: its
    /// routes may be there yet, and go without a word. Asking for a link waits until the change is complete, and what
    /// was told meanwhile belongs to the same moment.
    private func readNotices() {
        guard let socket, let view else { return }
        attempt { () throws(NetlinkError) in
            var effects: [NetworkTable.Effect] = []
            let fold = { [options, handler] (notice: Notice) in
                if options.wantsEveryNotice { handler(.notice(notice)) }
                if let effect = view.apply(notice) { effects.append(effect) }
            }
            _ = try socket.read(fold)
            if effects.contains(where: \.cause.comesInPieces) {
                try view.queries.awaitChanges()
                _ = try socket.read(fold)
            }
            if !effects.isEmpty { handler(.changed(effects)) }
        }
    }

    private func attempt(_ body: () throws(NetlinkError) -> Void) {
        do throws(NetlinkError) {
            try body()
        } catch {
            recover(from: error)
        }
    }

    /// A question to the view failed: makes good what can be made good, and says so.
    package func recover(from error: NetlinkError) {
        switch error {
        case .lost, .dumpInterrupted, .refused: resync(after: error)
        case .forbidden, .failed:
            close()
            handler(.blind(error))
            scheduleRetry()
        }
    }

    /// Reads everything anew: at once, or a second after the last time. Meanwhile the queue is not read, so that a storm
    /// costs nothing, and what is known is stale.
    private func resync(after error: NetlinkError) {
        let now = SystemClock.boot
        if let lastResync, now < lastResync + Self.resyncInterval {
            guard retry == nil else { return }
            if let socket { try? loop.change(socket.descriptor, to: []) }
            handler(.blind(error))
            retry = loop.schedule(at: lastResync + Self.resyncInterval) { [unowned self] in
                retry = nil
                resync(after: error)
            }
            return
        }
        lastResync = now
        attempt { () throws(NetlinkError) in
            if let socket {
                try socket.discard()
                try? loop.change(socket.descriptor, to: .readable)
            }
            try view?.refresh()
            handler(.resynced(error))
        }
    }

    private func close() {
        if let socket { loop.unwatch(socket.descriptor) }
        socket = nil
    }

    private func scheduleRetry() {
        guard retry == nil else { return }
        retry = loop.schedule(at: SystemClock.boot + backoff.wait()) { [unowned self] in
            retry = nil
            do throws(NetlinkError) {
                try open()
                handler(.resynced(.lost))
            } catch {
                close()
                handler(.blind(error))
                scheduleRetry()
            }
        }
    }

    private func schedulePoll() {
        retry = loop.schedule(at: SystemClock.boot + Self.pollInterval) { [unowned self] in
            retry = nil
            refresh(because: .poll)
            if socket == nil, retry == nil { schedulePoll() }
        }
    }
}

extension Cause {
    /// The kernel tells of it before it has drawn all the consequences. (Of carriers it tells afterwards:
    /// `netdev_state_change` notifies the routing tables first.)
    fileprivate var comesInPieces: Bool {
        switch self {
        case .routeAdded, .routeReplaced, .neighbour, .setting, .carrierLost, .carrierGained: false
        default: true
        }
    }
}
