package import ReachCore
package import ReachLoop

/// Observes the kernel from an event loop: keeps a ``KernelView`` current, and reports when it may have changed.
///
/// When notices are lost, it reads everything again and reports a resync. When it may not subscribe to notices, it
/// polls. When it cannot query the kernel at all, it reports ``Event/unobservable(_:)`` and retries.
package final class KernelObserver {
    package enum Event {
        /// The view may have changed; the effects say how.
        case changed([NetworkTable.Effect])
        /// Notices were lost; the view is complete again.
        case resynced(NetlinkError)
        /// The kernel cannot be observed until the next event of another kind.
        case unobservable(NetlinkError)
        /// A notice as received; only with ``Options/wantsEveryNotice``.
        case notice(Notice)
    }

    package struct Options: Sendable {
        package var policy = LinkPolicy()
        /// The name of the VRF whose paths count; `nil` for the one in which this process runs, if any.
        package var vrf: String?
        /// Whether to report every notice, including those that cannot matter.
        package var wantsEveryNotice = false
        package var receiveBufferBytes = NoticeSocket.defaultBufferBytes

        package init() {}
    }

    /// The interval of polling where the kernel answers queries but sends no notices (Tailscale polls as often).
    package static let pollInterval: Duration = .seconds(10)
    /// The minimum time between two resyncs, however much is lost (NetworkManager waits as long).
    package static let resyncInterval: Duration = .seconds(1)
    /// How long notices collect after some that concern no path. On a host where containers come and go, what follows
    /// is one evaluation instead of five for each container; a loss that begins in this time is seen so much later.
    package static let collectingTime: Duration = .milliseconds(20)

    /// The kernel's tables; `nil` until the first successful query.
    package private(set) var view: KernelView?
    private let loop: EventLoop
    private let options: Options
    private let handler: (Event) -> Void
    private var socket: NoticeSocket?
    private var wireless: WirelessObserver?
    /// Listens to routers; `nil` where no network is named by what they announce.
    private var listener: AdvertisementListener?
    /// Why routers cannot be listened to; `nil` where no one wants that.
    package private(set) var listeningError: SystemError?
    private var interest = NoticeInterest()
    private var backoff = Backoff(first: .seconds(1), longest: .seconds(30))
    private var retry: TimerQueue.ID?
    private var lastResync: BootTime?
    /// The end of the time in which notices collect.
    private var collecting: TimerQueue.ID?
    /// The links that carry nothing, as far as notices have shown since the kernel reports what it does now.
    private var idleLinks = Derived(IdleLinks())
    /// The links of ``support``.
    private var supportingLinks = SupportingLinks()

    package init(loop: EventLoop, options: Options = Options(), handler: @escaping (Event) -> Void) {
        self.loop = loop
        self.options = options
        self.handler = handler
    }

    deinit {
        if let socket { loop.unwatch(socket.descriptor) }
        if let retry { loop.cancel(retry) }
        if let collecting { loop.cancel(collecting) }
    }

    /// What paths rest on, to be set after each evaluation; `nil` if any change may touch them.
    var support: PathSupport? {
        get { supportingLinks.support }
        set { supportingLinks = SupportingLinks(newValue) }
    }

    /// The addresses whose routes matter.
    var targets: Set<IPAddress> { interest.targets }

    /// Whether the kernel sends notices of changes; otherwise they are noticed by polling.
    var isNotified: Bool { socket != nil }

    /// Subscribes, then reads everything. In this order no change is missed.
    ///
    /// - Throws: The reason why the kernel cannot be observed now. The observer retries, and reports to the handler.
    package func start() throws(NetlinkError) {
        do throws(NetlinkError) {
            try open()
        } catch {
            close()
            scheduleRetry()
            throw error
        }
    }

    /// Sets the addresses whose routes matter. The kernel drops notices of routes that cover none of them.
    package func watch(targets: Set<IPAddress>) {
        if interest.watch(targets) { view?.expectMoreReports() }
        updateFilter()
    }

    /// Makes the filter pass the notices of these neighbours, on which the paths depend. Call it after every
    /// evaluation.
    package func trackNeighbours(_ needed: Set<Neighbour.Key>) {
        guard let view else { return }
        let missing = interest.track(needed)
        guard !missing.isEmpty else { return }
        view.keepNeighbours(interest.passing.neighbours)
        updateFilter()
        attempt { () throws(NetlinkError) in
            // A neighbour may have changed after its first query and before its notices passed.
            var effects: [NetworkTable.Effect] = []
            for key in missing where try view.queryNeighbour(key) {
                effects.append(NetworkTable.Effect(cause: .neighbour, interface: key.interface))
            }
            if !effects.isEmpty { handler(.changed(effects)) }
        }
    }

    /// Reads everything again, for example after sleep.
    package func refresh(because cause: Cause) {
        guard let view else { return }
        attempt {
            () throws(NetlinkError) in
            try view.refresh()
            wireless?.reset()
            handler(.changed([NetworkTable.Effect(cause: cause, interface: nil)]))
        }
    }

    private func open() throws(NetlinkError) {
        let view = if let existing = self.view { existing } else { try makeView() }
        var mustPoll = false
        do throws(NetlinkError) {
            let socket = try NoticeSocket(
                filter: options.wantsEveryNotice ? nil : interest.passing, bufferBytes: options.receiveBufferBytes)
            interest.noteInstalled()
            self.socket = socket
            try? loop.watch(socket.descriptor, for: .readable) { [unowned self] _ in readNotices() }
        } catch .forbidden {
            mustPoll = true
        }
        try view.refresh()
        self.view = view
        backoff.reset()
        if mustPoll { schedulePoll() }
    }

    private func makeView() throws(NetlinkError) -> KernelView {
        let view = try KernelView(policy: options.policy, vrf: options.vrf, wantsWireless: true)
        wireless = WirelessObserver(loop: loop, view: view) { [handler] in handler(.changed($0)) }
        listen(for: view)
        return view
    }

    private func listen(for view: KernelView) {
        guard options.policy.networks.usesDomains else { return }
        do throws(SystemError) {
            listener = try AdvertisementListener(on: loop) { [handler] announcement in
                if let effect = view.apply(announcement) { handler(.changed([effect])) }
            }
        } catch {
            listeningError = error
        }
    }

    private func updateFilter() {
        guard let socket, !options.wantsEveryNotice else { return }
        guard interest.noteInstalled() else { return }
        attempt { () throws(NetlinkError) in try socket.replace(filter: interest.passing) }
    }

    /// Applies the queued notices to the view. The kernel sends the notice of a link or address change before the
    /// change is complete: its IPv4 routes may still exist, and the kernel removes them without a notice. A query for a
    /// link waits until the change is complete, and notices that arrive in the meantime belong to the same change.
    private func readNotices() {
        guard let socket, let view else { return }
        attempt { () throws(NetlinkError) in
            var effects: [NetworkTable.Effect] = []
            var isIncomplete = false
            var concernsPath = false
            let apply = { [self] (notice: Notice) in
                if options.wantsEveryNotice { handler(.notice(notice)) }
                if let wireless, wireless.holds(notice) { return }
                let isFolded = idleLinks[view.age.reports].folds(notice, in: view.table) {
                    supportingLinks.all(view.carriers)
                }
                guard let effect = view.apply(notice), !isFolded else { return }
                effects.append(effect)
                guard !isIncomplete, !concernsPath || effect.cause.isReportedEarly else { return }
                guard !effect.cause.isOfLink || supportingLinks.mayBeTouched(by: notice, effect, view.carriers)
                else { return }
                concernsPath = true
                isIncomplete = effect.cause.isReportedEarly
            }
            _ = try socket.read(apply)
            if isIncomplete {
                try view.queries.awaitChanges()
                _ = try socket.read(apply)
            }
            if !effects.isEmpty { handler(.changed(effects)) }
            if !concernsPath, !options.wantsEveryNotice, supportingLinks.all(view.carriers) != nil { collectNotices() }
        }
    }

    /// Leaves notices in the socket for ``collectingTime``.
    private func collectNotices() {
        guard let socket, collecting == nil, retry == nil else { return }
        guard (try? loop.change(socket.descriptor, to: [])) != nil else { return }
        collecting = loop.schedule(at: SystemClock.boot + Self.collectingTime) { [unowned self] in endCollecting() }
    }

    private func endCollecting() {
        guard let timer = collecting else { return }
        loop.cancel(timer)
        collecting = nil
        // While a resync waits, nothing is read.
        guard let socket, retry == nil else { return }
        try? loop.change(socket.descriptor, to: .readable)
    }

    /// Applies the notices that have collected. Call it before a question, whose answer would miss them.
    func readCollected() {
        guard collecting != nil else { return }
        endCollecting()
        readNotices()
    }

    private func attempt(_ body: () throws(NetlinkError) -> Void) {
        do throws(NetlinkError) {
            try body()
        } catch {
            recover(from: error)
        }
    }

    /// Recovers from the failure of a query to ``view``. Depending on the error, it reads everything again, or reports
    /// that the kernel is unobservable and retries.
    package func recover(from error: NetlinkError) {
        switch error {
        case .lost, .refused: resync(after: error)
        case .forbidden, .failed:
            close()
            handler(.unobservable(error))
            scheduleRetry()
        }
    }

    /// Reads everything again: at once, or one second after the last resync. While it waits, it does not read the
    /// notices, so a storm costs nothing, and the state is stale.
    private func resync(after error: NetlinkError) {
        let now = SystemClock.boot
        if let lastResync, now < lastResync + Self.resyncInterval {
            guard retry == nil else { return }
            if let socket { try? loop.change(socket.descriptor, to: []) }
            handler(.unobservable(error))
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
            wireless?.reset()
            handler(.resynced(error))
        }
    }

    private func close() {
        endCollecting()
        if let socket { loop.unwatch(socket.descriptor) }
        socket = nil
    }

    private func scheduleRetry() {
        // Of a poll, or of a resync that needs the socket.
        retry.map(loop.cancel)
        retry = loop.schedule(at: SystemClock.boot + backoff.wait()) { [unowned self] in
            retry = nil
            do throws(NetlinkError) {
                try open()
                handler(.resynced(.lost))
            } catch {
                close()
                handler(.unobservable(error))
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
    /// Whether the kernel sends the notice before the change is complete. (A change of carrier is complete:
    /// `netdev_state_change` notifies the routing tables first.)
    fileprivate var isReportedEarly: Bool {
        switch self {
        case .routeAdded, .routeReplaced, .neighbour, .setting, .router, .carrierLost, .carrierGained: false
        default: true
        }
    }

    /// Whether the change is one of a link or its addresses. One of routes, rules or neighbours concerns a path
    /// whatever its link, since the kernel sends only those that a watched address needs.
    fileprivate var isOfLink: Bool {
        switch self {
        case .linkAdded, .linkRemoved, .linkUp, .linkDown, .linkChanged, .carrierLost, .carrierGained, .addressAdded,
            .addressChanged, .addressRemoved:
            true
        default: false
        }
    }
}
