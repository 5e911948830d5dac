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
    private let proxies: TransferProxies
    private let loop: EventLoop
    private let network: any QueueNetwork
    private let executor: Executor
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
        proxies = options.attempts.proxies
        let executor = Executor(loop: loop, network: network, checker: checker, resolver: options.transfers.resolver)
        self.executor = executor
        let driver = QueueDriver(
            loop: loop, policy: options.policy, executor: executor, seed: seed,
            onEvent: { [weak executor] event in
                executor?.note(event)
                onEvent(event)
            }, notify: notify)
        self.driver = driver
        executor.begin(
            QueueTransfers(
                loop: loop, transfers: options.transfers, options: options.attempts, make: options.makeTransfers
            ) { [weak driver] in
                driver?.send($0)
            }
        ) { [weak driver] in driver?.send($0) }
    }

    deinit { endFollowing() }

    /// Keeps the queue in a directory. To be called once.
    ///
    /// - Parameter outbox: Where the events of transactions go; `nil` if they are not wanted.
    package func open(
        _ directory: QueueDirectory, _ options: QueueStoreOptions? = nil, outbox: QueueOutbox? = nil
    ) throws(SystemError) {
        executor.attempts?.spool = QueueSpool(directory.spoolPath, on: loop)
        try driver.open(directory, options, outbox: outbox)
        follow()
    }

    /// Keeps the queue in this process's memory. To be called once, instead of ``open(_:_:)``.
    package func openInMemory() {
        driver.openInMemory()
        follow()
    }

    /// Where long bodies are; `nil` where the queue is in memory only.
    package var spool: QueueSpool? { executor.attempts?.spool }

    /// - Parameter survey: What probes have proved; `nil` where none run.
    package func update(survey: ConnectivitySurvey?) { executor.update(survey: survey) }

    /// Called with the progress of attempts.
    package var onProgress: (AttemptProgress) -> Void {
        get { executor.attempts?.onProgress ?? { _ in } }
        set { executor.attempts?.onProgress = newValue }
    }

    /// Has a say in attempts, from the next one on; held weakly.
    package weak var host: (any AttemptHost)? {
        didSet { executor.attempts?.host = host }
    }

    /// Ends the attempt of a download, so that another request can resume it. The caller must also cancel or hold the
    /// request.
    ///
    /// - Parameter reply: Called once, on the loop: the point to resume from; `nil` if it cannot be resumed.
    package func interrupt(
        _ id: RequestID, _ request: QueuedRequest, reply: @escaping ((point: ResumePoint, file: String)?) -> Void
    ) {
        guard let attempts = executor.attempts else { return reply(nil) }
        attempts.interrupt(id, request, reply: reply)
    }

    /// Continues an attempt whose host has room again for pieces of the answer.
    package func resumeReading(_ id: RequestID) { executor.attempts?.resumeReading(id) }

    /// Whether a proxy sends the request: its host may then have neither a name nor a path here.
    package func usesProxy(_ request: QueuedRequest) -> Bool {
        switch request.specification.destination.proxy {
        case .none: false
        case .server: true
        case .usual: (try? TransferURL(request.specification.url)).map { proxies.proxy(for: $0) != .none } ?? false
        }
    }

    /// Goes up whenever a path differs; every event has it.
    package var epoch: UInt64 { driver.epoch }

    /// How many transfers have begun and not ended.
    package var runningCount: Int { executor.attempts?.runningCount ?? 0 }

    package func progress(of id: RequestID) -> AttemptProgress? { executor.attempts?.progress(of: id) }

    /// The bytes of a resumable upload that the server has acknowledged; `nil` if none was begun.
    package func uploadedBytes(of id: RequestID) -> Int64? { executor.attempts?.uploadedBytes(of: id) }

    /// Ends attempts, gives their leases back, and lets the store finish.
    ///
    /// - Returns: Whether all was written in this time.
    @discardableResult
    package func close(patience: Duration) -> Bool {
        endFollowing()
        return driver.close(patience: patience)
    }

    private func follow() {
        let unwatchNetwork = network.followNetwork { [weak executor] in executor?.update(network: $0) }
        let unwatchInternet = network.follow(.internet) { [weak executor] event in
            if case .wake(_, let slept) = event { executor?.wake(after: slept) }
        }
        endFollowing = {
            unwatchNetwork()
            unwatchInternet()
        }
    }
}

/// Passes the driver's commands to the transfers, the path checker and the network.
private final class Executor: QueueExecutor {
    private let loop: EventLoop
    private let network: any QueueNetwork
    private let checker: (any PathChecker)?
    private var send: (QueueInput) -> Void = { _ in }
    private(set) var attempts: QueueTransfers?
    private(set) var feed: PathFeed?
    private var routes: RouteFeed?
    /// Resolves names that no default route serves; made for the first one.
    private lazy var names = NameService(loop: loop, options: resolver)
    private let resolver: NameService.Options
    private var epoch: UInt64 = 0
    private var watches: [Destination: () -> Void] = [:]
    /// Ends the search for a path; `nil` without requests.
    private var endSeeking: (() -> Void)?
    private var memo = RouteMemo()
    /// The states of the watched hosts, and the paths that follow from them.
    private var targets: [Destination: (state: ReachabilityState, path: QueuePath?)] = [:]

    init(
        loop: EventLoop, network: any QueueNetwork, checker: (any PathChecker)?, resolver: NameService.Options
    ) {
        self.loop = loop
        self.resolver = resolver
        self.network = network
        self.checker = checker
    }

    deinit {
        watches.values.forEach { $0() }
        endSeeking?()
    }

    func begin(_ attempts: QueueTransfers, send: @escaping (QueueInput) -> Void) {
        self.attempts = attempts
        self.send = send
        feed = PathFeed { [unowned self] set in
            memo.forget()
            // The connections first, so that an attempt that the queue starts now does not use an old one.
            if set.epoch != epoch { attempts.newEpoch() }
            epoch = set.epoch
            send(.paths(set))
            // Probes may have changed the paths to single hosts, too.
            for (destination, known) in targets where feed?.path(to: known.state) != known.path {
                report(known.state, of: destination)
            }
            routes?.update()
        }
        routes = RouteFeed(loop: loop, network: network) { [unowned self] in
            feed
        } server: { [unowned self] in
            server(of: $0)
        } report: { [unowned self] in
            memo.forget()
            send(.routes($0))
        }
        attempts.router = { [unowned self] in choose($0, $1, among: $2) }
        attempts.serverRoute = { [weak self] (server, bound) throws(SystemError) in
            guard let self else { return bound }
            return try interface(for: server, boundTo: bound)
        }
    }

    func wake(after slept: Duration) {
        guard let feed else { return }
        send(.woke(after: slept))
        feed.wake()
    }

    func update(network: NetworkSnapshot?) {
        memo.forget()
        feed?.update(network: network)
        routes?.update(isKnown: network != nil)
    }

    func update(survey: ConnectivitySurvey?) {
        memo.forget()
        feed?.update(survey: survey)
    }

    func begin(_ contents: StoreContents) { attempts?.adopt(contents) }

    /// Files of answers go with their requests.
    func note(_ event: QueueEvent) {
        switch event.kind {
        case .done, .dead, .cancelled:
            if let id = event.request { attempts?.forget(id, keepsAnswer: event.status != nil) }
        default: break
        }
    }

    func start(_ order: AttemptOrder, _ request: QueuedRequest) { attempts?.start(order, request) }

    func abort(_ id: RequestID) { attempts?.abort(id) }

    func prepare(_ id: RequestID) { attempts?.prepare(id) }

    func abandon(_ id: RequestID) { attempts?.abandon(id) }

    func checkPath(_ path: QueuePath) {
        // The endpoints are in the Internet: they say nothing of a path to one host.
        guard let checker, feed?.last?[interfaceIndex: path.interfaceIndex] != nil else {
            return answerByEvidence(path)
        }
        checker.check(path) { [weak self] works in
            guard let works else { self?.answerByEvidence(path); return }
            self?.send(.pathChecked(interfaceIndex: path.interfaceIndex, works: works, isProof: true))
        }
    }

    /// Without a checker the queue's own attempts decide. If they show nothing, the path counts as working, since the kernel
    /// has it, and the failure as the destination's.
    private func answerByEvidence(_ path: QueuePath) {
        let works = attempts?.evidence(on: path) != .fails
        // After the turn in which the driver asked.
        loop.afterEvents { [weak self] in
            self?.send(.pathChecked(interfaceIndex: path.interfaceIndex, works: works))
        }
    }

    func watch(_ destination: Destination, for owner: UInt32) {
        guard watches[destination] == nil, let target = destination.target else { return }
        watches[destination] = network.follow(target, for: owner) { [weak self] event in
            guard let self, case .change(let change) = event else { return }
            report(change.state, of: destination)
        }
    }

    func update(hasRequests: Bool) {
        endSeeking?()
        endSeeking = hasRequests ? network.seekPath() : nil
    }

    private func report(_ state: ReachabilityState, of destination: Destination) {
        let path = feed?.path(to: state)
        targets[destination] = (state, path)
        send(.targetPath(destination, path))
    }

    func unwatch(_ destination: Destination) {
        targets[destination] = nil
        watches.removeValue(forKey: destination)?()
    }
}

/// Routes to destinations.
extension Executor {
    func followRoute(_ destination: Destination) { routes?.follow(destination) }

    func unfollowRoute(_ destination: Destination) { routes?.unfollow(destination) }

    func lookUp(_ destination: Destination, for owner: UInt32) {
        guard case .name(let name) = server(of: destination) else {
            // The proxy's address is known without a lookup.
            return loop.afterEvents { [weak self] in self?.lookedUp(destination, self?.addresses(of: destination)) }
        }
        names.newEpoch()
        _ = names.resolve(NameQuestion(name, owner: owner), within: Self.lookupLimit) { [weak self] answer in
            self?.lookedUp(destination, try? answer.get())
        }
    }

    private static let lookupLimit = Duration.seconds(15)

    private func addresses(of destination: Destination) -> [IPAddress]? {
        if case .address(let address, _) = server(of: destination) { [address] } else { nil }
    }

    private func lookedUp(_ destination: Destination, _ addresses: [IPAddress]?) {
        guard let addresses, let feed, let found = network.routes(to: addresses.map { RoutedAddress($0) }) else {
            return send(.lookedUp(destination, nil))
        }
        routes?.learn(addresses, of: destination)
        let route = feed.route(
            to: destination, by: found, of: addresses, isNamed: true,
            doubt: AddressDoubt(of: destination, at: server(of: destination)))
        send(.lookedUp(destination, route))
    }

    /// The host that a connection for a destination goes to: the proxy, where there is one.
    private func server(of destination: Destination) -> Target.Subject? {
        if let url = try? TransferURL(destination.origin + "/"),
            let proxy = attempts?.proxy(for: url, destination.proxy).url
        {
            return (try? Target(proxy.description))?.subject
        }
        return destination.target?.subject
    }

    private func choose(
        _ order: AttemptOrder, _ target: RouteTarget, among addresses: [IPAddress]
    ) -> AttemptRouter.Choice? {
        guard let feed else { return nil }
        let proxy = target.proxy.url
        let address = proxy == nil ? target.url.address : proxy?.address
        var zone: String?
        // Only an IPv6 address has one.
        if address?.family == .ipv6,
            case .address(_, let given)? = (try? Target((proxy ?? target.url).description))?.subject
        {
            zone = given
        }
        if let known = memo.choice(for: order, target, addresses, zone: zone, at: moment) { return known }
        let isNamed = address == nil
        // Of a proxy's address no more is asked.
        let doubt = AddressDoubt(
            isNamed && proxy == nil && !target.url.isSecure && PublicName.isPublic(target.url.host))
        let router = AttemptRouter(network: network, feed: feed, order: order, isNamed: isNamed, doubt: doubt)
        let isDestination = order.destination.isOrigin(of: target.url)
        let choice = router.choose(among: addresses, zone: zone, isDestination: isDestination)
        if isDestination, isNamed, choice?.destination?.own.isEmpty == false {
            routes?.learn(addresses, of: order.destination)
        }
        // Only now: the lookup may have found that the network has changed.
        memo.note(
            choice, in: RouteSituation(order, target, addresses, zone: zone), at: moment,
            isReported: network.reportsRoutes(to: addresses))
        return choice
    }

    private var moment: RouteMemo.Moment {
        RouteMemo.Moment(turn: loop.turn, version: network.routesVersion, now: SystemClock.boot)
    }

    /// The interface for queries to a name server.
    ///
    /// - Throws: Where the server's own route cannot be used.
    private func interface(
        for server: ResolverConfiguration.Server, boundTo bound: InterfaceBinding
    ) throws(SystemError) -> InterfaceBinding? {
        let isMetered = feed?.last?[interfaceIndex: bound.index]?.isMetered ?? false
        return try NameServerRoute(to: server, boundTo: bound, isMetered: isMetered, routes: network.routes)
            .interface()
    }
}

extension Destination {
    /// Whether the URL is one of this destination.
    fileprivate func isOrigin(of url: TransferURL) -> Bool {
        let origin = origin
        // Mostly it is, and need not be read again.
        return origin == "\(url.scheme)://\(url.host):\(url.port)"
            || (try? Destination(url: url.description))?.origin == origin
    }
}
