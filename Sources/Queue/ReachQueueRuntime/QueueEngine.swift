internal import Glibc
package import ReachCore
package import ReachLoop
package import ReachQueue
package import ReachTransfer

/// A working queue: the scheduler, its store, the network and the transfers.
///
/// Confined to its loop. SIGPIPE must be ignored by the process (see ``TransferEngine``).
package final class QueueEngine {
    package struct Options: Sendable {
        package var policy = QueuePolicy()
        /// Where periods of budgets begin at midnight.
        package var zone = LocalZone.system
        package var attempts = QueueTransfers.Options()
        package var transfers = TransferEngine.Options()
        /// Makes the transfers in place of an engine; `nil` for an engine.
        package var makeTransfers: (@Sendable (EventLoop) -> any TransferMaker)?

        package init() {
            // The queue itself ends attempts whose path is lost. One whose path is still there may finish, however long
            // it takes, whatever else the network does.
            transfers.drainLimit = .seconds(7 * 86_400)
        }
    }

    package let driver: QueueDriver
    let loop: EventLoop
    let network: any QueueNetwork
    let checker: (any PathChecker)?
    let attempts: QueueTransfers
    private let resolver: NameService.Options
    private(set) lazy var feed = PathFeed { [unowned self] in handle($0) }
    private(set) lazy var routes = RouteFeed(loop: loop, network: network) { [unowned self] in
        feed
    } server: { [unowned self] in
        server(of: $0)
    } flow: { [unowned self] in
        flow(to: $0)
    } report: { [unowned self] in
        memo.forget()
        driver.send(.routes($0))
    }
    /// Resolves names that no default route serves; made for the first one.
    private(set) lazy var names = NameService(loop: loop, options: resolver)
    var memo = RouteMemo()
    private var epoch: UInt64 = 0
    var watches: [Destination: (owner: UInt32, end: () -> Void)] = [:]
    var resting = RestingWatch()
    /// The states of the watched hosts, and the paths that follow from them.
    var targets: [Destination: (state: ReachabilityState, path: QueuePath?)] = [:]
    /// Ends the search for a path; `nil` without requests.
    private var endSeeking: (() -> Void)?
    private var endFollowing: () -> Void = {}

    /// - Parameters:
    ///   - network: Kept alive.
    ///   - checker: Finds out whether paths work; `nil` leaves it to what attempts show.
    ///   - onEvent: Called for each change of a request, once it is committed.
    package init(
        loop: EventLoop, network: any QueueNetwork, options: Options = Options(), checker: (any PathChecker)? = nil,
        seed: UInt64 = .random(in: 0 ... .max), onEvent: @escaping (QueueEvent) -> Void,
        notify: @escaping (QueueDriver.Notice) -> Void = { _ in }
    ) {
        self.loop = loop
        self.network = network
        self.checker = checker
        resolver = options.transfers.resolver
        let driver = QueueDriver(
            loop: loop, policy: options.policy, zone: options.zone, seed: seed, onEvent: onEvent, notify: notify)
        self.driver = driver
        attempts = QueueTransfers(
            loop: loop, transfers: options.transfers, options: options.attempts, make: options.makeTransfers
        ) { [weak driver] in driver?.send($0) }
        driver.executor = self
        attempts.router = { [unowned self] in choose($0, $1, among: $2) }
        attempts.serverRoute = { [weak self] (server, bound) throws(SystemError) in
            guard let self else { return bound }
            return try interface(for: server, boundTo: bound)
        }
    }

    deinit {
        endFollowing()
        watches.values.forEach { $0.end() }
        endSeeking?()
    }

    /// Keeps the queue in a directory. To be called once.
    ///
    /// - Parameter outbox: Where the events of transactions go; `nil` if they are not wanted.
    package func open(
        _ directory: QueueDirectory, _ options: QueueStoreOptions? = nil, outbox: QueueOutbox? = nil
    ) throws(SystemError) {
        attempts.spool = QueueSpool(directory.spoolPath, on: loop)
        try keepFree(onDiskOf: directory.spoolPath)
        try driver.open(directory, options, outbox: outbox)
        follow()
    }

    private func keepFree(onDiskOf spool: String) throws(SystemError) {
        guard let rules = attempts.options.disk else { return }
        let size = try DiskSpace.measure(at: spool).size
        attempts.keptFree = KeptSpace(bytes: rules.bytesKeptFree(of: size), onDiskOf: spool)
    }

    /// Decides by another policy from now on, and makes later attempts by other options; attempts that run go on.
    package func apply(_ policy: QueuePolicy, _ options: QueueTransfers.Options) {
        let before = attempts.options
        attempts.options = options
        if options.proxies != before.proxies { memo.forget() }
        // A disk that cannot be measured keeps what was kept free of it.
        if options.disk != before.disk, let spool { try? keepFree(onDiskOf: spool.path(".")) }
        driver.apply(policy)
    }

    /// Keeps the queue in this process's memory. To be called once, instead of ``open(_:_:)``.
    package func openInMemory() {
        driver.openInMemory()
        follow()
    }

    /// Where long bodies are; `nil` where the queue is in memory only.
    package var spool: QueueSpool? { attempts.spool }

    /// - Parameter survey: What probes have proved; `nil` where none run.
    package func update(survey: ConnectivitySurvey?) {
        memo.forget()
        feed.update(survey: survey)
    }

    /// Called with the progress of attempts.
    package var onProgress: (AttemptProgress) -> Void {
        get { attempts.onProgress }
        set { attempts.onProgress = newValue }
    }

    /// Has a say in attempts, from the next one on; held weakly.
    package weak var host: (any AttemptHost)? {
        didSet { attempts.host = host }
    }

    /// Ends the attempt of a download, so that another request can resume it. The caller must also cancel or hold the
    /// request.
    ///
    /// - Parameter reply: Called once, on the loop: the point to resume from; `nil` if it cannot be resumed.
    package func interrupt(
        _ id: RequestID, _ request: QueuedRequest, reply: @escaping ((point: ResumePoint, file: String)?) -> Void
    ) {
        attempts.interrupt(id, request, reply: reply)
    }

    /// Removes what is there of a download that was just cancelled: its queue may be closed before the end of the
    /// request is committed.
    package func dropPart(of id: RequestID) { attempts.dropPart(of: id) }

    /// Takes over what an earlier run may have left of a stored download, so that it ends with its request.
    package func adoptPart(of id: RequestID, to path: String) { attempts.adoptPart(of: id, to: path) }

    /// Continues an attempt whose host has room again for pieces of the answer.
    package func resumeReading(_ id: RequestID) { attempts.resumeReading(id) }

    /// Whether a proxy sends the request: its host may then have neither a name nor a path here.
    package func usesProxy(_ request: QueuedRequest) -> Bool {
        switch request.specification.destination.proxy {
        case .none: false
        case .server: true
        case .usual:
            (try? TransferURL(request.specification.url)).map { url in
                attempts.options.proxies.proxy(for: url) != .none
            } ?? false
        }
    }

    /// How many transfers have begun and not ended.
    package var runningCount: Int { attempts.runningCount }

    package func progress(of id: RequestID) -> AttemptProgress? { attempts.progress(of: id) }

    /// The bytes of a resumable upload that the server has acknowledged; `nil` if none was begun.
    package func uploadedBytes(of id: RequestID) -> Int64? { attempts.uploadedBytes(of: id) }

    /// Ends attempts, gives their leases back, and lets the store finish.
    ///
    /// - Returns: Whether all was written in this time.
    @discardableResult
    package func close(patience: Duration) -> Bool {
        endFollowing()
        return driver.close(patience: patience)
    }

    // MARK: The network

    private func follow() {
        let unwatchNetwork = network.followNetwork { [weak self] in self?.update(network: $0) }
        let unwatchInternet = network.follow(.internet) { [weak self] event in
            if case .wake(_, let slept) = event { self?.wake(after: slept) }
        }
        endFollowing = {
            unwatchNetwork()
            unwatchInternet()
        }
    }

    private func wake(after slept: Duration) {
        driver.send(.woke(after: slept))
        feed.wake()
    }

    private func update(network: NetworkSnapshot?) {
        memo.forget()
        feed.update(network: network)
        routes.update(isKnown: network != nil)
    }

    private func handle(_ set: PathSet) {
        memo.forget()
        // The connections first, so that an attempt that the queue starts now does not use an old one.
        if set.epoch != epoch { attempts.newEpoch() }
        epoch = set.epoch
        driver.send(.paths(set))
        // Probes may have changed the paths to single hosts, too.
        for (destination, watched) in targets where feed.path(to: watched.state) != watched.path {
            report(watched.state, of: destination)
        }
        routes.update()
    }

    package func update(hasRequests: Bool) {
        endSeeking?()
        endSeeking = hasRequests ? network.seekPath() : nil
    }
}
