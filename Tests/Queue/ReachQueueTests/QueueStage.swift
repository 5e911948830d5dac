import ReachCore
import ReachQueue

/// A scheduler with a clock that the test moves, and a store that commits at once unless it is told otherwise.
struct QueueStage {
    struct Start: Hashable {
        let order: AttemptOrder
        let at: Duration
    }

    var queue: QueueScheduler
    var elapsed: Duration = .zero
    /// What a step of the wall clock has added to it.
    var wallStep: Duration = .zero
    var commits = true
    var starts: [Start] = []
    var events: [QueueEvent] = []
    var aborted: [RequestID] = []
    /// Requests whose interceptors were asked to prepare them, and those that were taken away from them.
    var prepared: [RequestID] = []
    var abandoned: [RequestID] = []
    var replies: [QueueInput.Ticket: [QueueReply]] = [:]
    var checks: [QueuePath] = []
    var transactions: [StoreTransaction] = []
    var uncommitted: [UInt64] = []
    /// The routes that are known of destinations, and those that are no longer followed.
    var routes: [Destination: DestinationRoute] = [:]
    var unfollowed: [Destination] = []
    /// Destinations whose names were to be looked up.
    var lookups: [Destination] = []
    var turns = 0
    private var lastTicket: QueueInput.Ticket = 0

    init(_ policy: QueuePolicy = QueuePolicy(), seed: UInt64 = 1) {
        queue = QueueScheduler(policy, seed: seed, at: Self.moment(.zero, .zero))
    }

    private static func moment(_ elapsed: Duration, _ step: Duration) -> Instant {
        let start: Int64 = 1_000_000_000_000
        return Instant(
            wall: Timestamp(nanosecondsSince1970: 1_795_000_000_000_000_000 + elapsed.nanoseconds + step.nanoseconds),
            boot: BootTime(nanoseconds: start + elapsed.nanoseconds))
    }

    var moment: Instant { Self.moment(elapsed, wallStep) }

    func elapsed(at time: BootTime) -> Duration { .nanoseconds(time.nanoseconds - 1_000_000_000_000) }

    mutating func send(_ command: QueueInput) {
        turns += 1
        take(queue.handle(command, at: moment))
    }

    private mutating func take(_ actions: [QueueAction]) {
        var numbers: [UInt64] = []
        var unreported: [DestinationRoute] = []
        for action in actions {
            switch action {
            case .store(let transaction):
                transactions.append(transaction)
                numbers.append(transaction.number)
            case .start(let order): starts.append(Start(order: order, at: elapsed))
            case .abort(let id): aborted.append(id)
            case .checkPath(let path): checks.append(path)
            case .watch, .unwatch: break
            case .followRoute(let destination):
                if let route = routes[destination] { unreported.append(route) }
            case .unfollowRoute(let destination): unfollowed.append(destination)
            case .lookUp(let destination, _): lookups.append(destination)
            case .prepare(let id): prepared.append(id)
            case .abandon(let id): abandoned.append(id)
            case .reply(let ticket, let reply): replies[ticket, default: []].append(reply)
            case .publish(let event): events.append(event)
            }
        }
        if !unreported.isEmpty { send(.routes(unreported)) }
        for number in numbers {
            if commits { send(.committed(number)) } else { uncommitted.append(number) }
        }
    }

    /// Lets time pass, and wakes the queue whenever it wants to be.
    ///
    /// - Returns: How often it was woken.
    @discardableResult
    mutating func pass(_ duration: Duration) -> Int {
        let end = elapsed + duration
        var wakings = 0
        while let deadline = queue.deadline, elapsed(at: deadline) <= end {
            elapsed = max(elapsed, elapsed(at: deadline))
            wakings += 1
            send(.wake)
            precondition(wakings < 2_000_000, "it never sleeps")
        }
        elapsed = end
        return wakings
    }

    /// - Returns: The last reply to it.
    @discardableResult
    mutating func ask(_ command: (QueueInput.Ticket) -> QueueInput) -> QueueReply? {
        lastTicket += 1
        send(command(lastTicket))
        return replies[lastTicket]?.last
    }

    @discardableResult
    mutating func add(
        _ url: String = "https://a.example/", when condition: String = "any", by owner: UInt32 = 0,
        _ change: (inout RequestSpecification) -> Void = { _ in }
    ) throws -> RequestID {
        var request = try QueuedRequest(
            RequestSpecification(url: url, condition: NetworkCondition(condition)), owner: owner)
        change(&request.specification)
        guard case .added(let id) = ask({ .add(request, $0) }) else { throw Refused(reply: replies[lastTicket]?.last) }
        return id
    }

    struct Refused: Error { let reply: QueueReply? }

    mutating func answer(_ id: RequestID, _ status: Int = 200, headers: [String: String] = [:]) {
        let result = RequestResult(
            status: status, headers: headers.map { HeaderField($0.key, $0.value) })
        send(.ended(id, .answered(result, isAccepted: 200...299 ~= status)))
    }

    mutating func fail(_ id: RequestID, _ kind: AttemptFault.Kind) {
        send(.ended(id, .failed(AttemptFault(kind))))
    }

    func state(_ id: RequestID) -> QueuedRequestState? { queue.state(of: id) }

    func blockers(_ id: RequestID) -> [String] {
        queue.explain(id, at: moment)?.reasons.map { $0.blocker.words[0] } ?? ["gone"]
    }

    /// Those that were started, in order.
    var startedIDs: [RequestID] { starts.map(\.order.id) }

    func kinds(of id: RequestID) -> [QueueEvent.Kind] { events.filter { $0.request == id }.map(\.kind) }

    func explanation(_ id: RequestID) -> QueueExplanation? { queue.explain(id, at: moment) }

    // MARK: The network

    private(set) var epoch: UInt64 = 1

    mutating func network(
        _ paths: [QueuePath], newEpoch: Bool = true, links: [UInt32] = [], tunnels: [String] = []
    ) {
        if newEpoch { epoch += 1 }
        send(.paths(PathSet(paths, epoch: epoch, links: links, tunnels: tunnels)))
    }

    /// The kernel sends to a host by routes of its own, or by the default routes, or not at all.
    mutating func route(_ url: String, own: [QueuePath] = [], isByDefault: Bool = false) throws {
        let route = DestinationRoute(
            try Destination(url: url), own: own, defaultFamilies: isByDefault ? [.ipv4, .ipv6] : [])
        routes[route.destination] = route
        send(.routes([route]))
    }
}

extension QueuePath {
    static let wired = path(2, "eth0", .wired)
    static let wifi = path(3, "wlan0", .wifi)
    static let wwan = path(4, "wwan0", .wwan)

    static func path(_ index: UInt32, _ name: String, _ linkClass: LinkClass) -> QueuePath {
        var path = QueuePath(interfaceIndex: index, interface: name, traits: PathTraits(linkClass: linkClass))
        path.isMetered = linkClass == .wwan
        path.isValidated = true
        path.rank = PathRank(ipv4: index)
        path.sources = [IPAddress(ipv4: 0xC000_0200 + index)]
        return path
    }

    func with(_ change: (inout QueuePath) -> Void) -> QueuePath {
        var copy = self
        change(&copy)
        return copy
    }
}
