import Glibc
import ReachCore
import ReachTesting
import Testing

@testable import ReachQueue

/// Random walks against what must always hold.
@Suite struct SchedulerModelTests {
    /// What somebody who only sees commands and actions knows.
    private struct Witness {
        var paths: [QueuePath] = []
        /// The routes of the destinations that are followed.
        var routes: [Destination: DestinationRoute] = [:]
        var conditions: [RequestID: NetworkCondition] = [:]
        var orders: [RequestID: String] = [:]
        var running: Set<RequestID> = []
        var ends: [RequestID: Int] = [:]
        var leased: Set<RequestID> = []
        var isHeld = false
        /// Requests with an interceptor, those that it has, and those that it has prepared.
        var intercepted: Set<RequestID> = []
        var preparing: Set<RequestID> = []
        var judged: Set<RequestID> = []
        var prepared: Set<RequestID> = []
        var faults: [String] = []

        /// What a destination without a followed route is sent by are the default routes.
        func paths(to destination: Destination) -> [QueuePath] {
            guard let route = routes[destination] else { return paths }
            return route.own + (route.isByDefault ? paths : [])
        }

        /// Forgets what a run of the daemon takes with it.
        mutating func endRun() {
            routes = [:]
            running = []
            preparing = []
            judged = []
            prepared = []
        }

        mutating func started(_ order: AttemptOrder, leased: Bool) {
            let id = order.id
            if running.contains(id) { faults.append("\(id) started twice") }
            if !leased { faults.append("\(id) started without a lease") }
            running.insert(id)
            if intercepted.contains(id), prepared.remove(id) == nil { faults.append("\(id) started unprepared") }
            if let key = orders[id], running.contains(where: { $0 != id && orders[$0] == key }) {
                faults.append("two of order \(key) run")
            }
            guard let condition = conditions[id] else { return faults.append("\(id) is unknown") }
            let paths = paths(to: order.destination).filter { $0.interfaceIndex == order.path.interfaceIndex }
            if paths.isEmpty { return faults.append("\(id) started by a path that is gone") }
            if !paths.contains(where: { condition.unmet(on: $0).isEmpty }) {
                faults.append("\(id) started though '\(condition)' is not met")
            }
        }
    }

    /// The names whose hosts turn out to have routes of their own.
    private static let intranet = ["https://host2.example/", "https://host3.example/"]

    private struct Walk {
        var random: SeededGenerator
        var queue: QueueScheduler
        var witness = Witness()
        var elapsed: Int64 = 1_000_000_000_000
        var epoch: UInt64 = 1
        var ids: [RequestID] = []
        var toCommit: [StoreTransaction] = []
        var kept = KeptRequests()
        var restarts = 0
        let policy: QueuePolicy
        var lastTicket: UInt64 = 0
        var leases: Set<RequestID> = []
        var starts = 0
        var destinations: [RequestID: Destination] = [:]
        /// Names that are being resolved.
        var lookups: Set<Destination> = []
        let intranet = Set(SchedulerModelTests.intranet.compactMap { try? Destination(url: $0) })

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
            var policy = QueuePolicy()
            policy.limits.requests = 300
            policy.dead.count = 20
            policy.slots.all = 6
            self.policy = policy
            queue = QueueScheduler(policy, seed: seed, at: Self.moment(1_000_000_000_000))
            _ = queue.handle([.allRestored, .interceptors(["api"])], at: moment)
        }

        private static func moment(_ time: Int64) -> Instant {
            Instant(wall: Timestamp(nanosecondsSince1970: time), boot: BootTime(nanoseconds: time))
        }

        var moment: Instant { Self.moment(elapsed) }

        mutating func step() {
            if random.oneIn(400) { return restart() }
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<22: add()
            case 22..<42: commit()
            case 42..<48: intercept()
            case 48..<68: end()
            case 68..<73: changePaths()
            case 73..<76: changeRoutes()
            case 76..<78: lookUp()
            case 78..<92: pass()
            case 92..<96: control()
            case 96: send(.degraded(random.oneIn(4)))
            case 97:
                let interface = UInt32.random(in: 2...4, using: &random)
                send(.pathChecked(interfaceIndex: interface, works: random.oneIn(2), isProof: random.oneIn(2)))
            case 98: if let id = witness.running.sorted().last { send(.answering(id)) }
            default: if let id = witness.running.sorted().first { send(.requestSent(id)) }
            }
        }

        mutating func send(_ command: QueueInput) {
            var unreported: [DestinationRoute] = []
            for action in queue.handle(command, at: moment) {
                switch action {
                case .followRoute(let destination):
                    let route = witness.routes[destination] ?? randomRoute(to: destination)
                    witness.routes[destination] = route
                    unreported.append(route)
                case .unfollowRoute(let destination): witness.routes[destination] = nil
                case .lookUp(let destination, _): lookups.insert(destination)
                case .store(let transaction): toCommit.append(transaction)
                case .start(let order):
                    starts += 1
                    witness.started(order, leased: leases.contains(order.id))
                case .abort(let id):
                    if witness.running.remove(id) == nil { witness.faults.append("\(id) aborted but not running") }
                case .prepare(let id):
                    if !witness.preparing.insert(id).inserted || witness.running.contains(id) {
                        witness.faults.append("\(id) is prepared while it is prepared or runs")
                    }
                case .abandon(let id):
                    if witness.preparing.remove(id) == nil, witness.judged.remove(id) == nil {
                        witness.faults.append("\(id) abandoned by an interceptor that does not have it")
                    }
                case .publish(let event):
                    guard let id = event.request else { continue }
                    if [.done, .dead, .cancelled].contains(event.kind) {
                        witness.ends[id, default: 0] += 1
                        if witness.ends[id] != 1 { witness.faults.append("\(id) ended twice") }
                    }
                    if event.kind == .queued, event.reason == "retry" { witness.ends[id, default: 0] -= 1 }
                default: break
                }
            }
            if !unreported.isEmpty { send(.routes(unreported)) }
        }

        mutating func randomRoute(to destination: Destination) -> DestinationRoute {
            let all: [QueuePath] = [.wired, .wifi, .wwan]
            let own = random.oneIn(3) ? [] : all.filter { _ in random.oneIn(3) }
            return DestinationRoute(destination, own: own, defaultFamilies: random.oneIn(2) ? [.ipv4, .ipv6] : [])
        }

        /// A route of its own comes or goes, or a host is moved.
        mutating func changeRoutes() {
            let followed = witness.routes.keys.sorted { $0.description < $1.description }
            guard let destination = followed.randomElement(using: &random) else { return }
            let route = randomRoute(to: destination)
            witness.routes[destination] = route
            send(.routes([route]))
        }

        /// What is not apart from all others stays with them.
        private mutating func adopt(_ route: DestinationRoute) {
            guard witness.routes[route.destination] != nil || route.needsOwnGroup(besides: witness.paths) else {
                return
            }
            witness.routes[route.destination] = route
        }

        /// A name is resolved, or an attempt resolves its own.
        mutating func lookUp() {
            if let destination = lookups.min(by: { $0.description < $1.description }) {
                lookups.remove(destination)
                var route = random.oneIn(2) ? randomRoute(to: destination) : nil
                if !intranet.contains(destination) { route?.own = [] }
                if let route { adopt(route) }
                return send(.lookedUp(destination, route))
            }
            guard let id = witness.running.sorted().first, let destination = destinations[id],
                intranet.contains(destination)
            else { return }
            let route = randomRoute(to: destination)
            adopt(route)
            send(.attemptRouted(id, route.own.first, route))
        }

        private static let urls =
            (0..<4).map { "https://host\($0).example/" } + ["https://192.0.2.1/", "https://192.0.2.2/"]

        mutating func add() {
            guard
                let specification = try? RequestSpecification(
                    method: random.pick(["GET", "POST", "PUT"]),
                    url: random.pick(Self.urls),
                    condition: (try? NetworkCondition(
                        random.pick(["any", "wifi", "unmetered", "not wwan", "validated"])))
                        ?? .any)
            else { return }
            var request = QueuedRequest(specification)
            request.specification.priority = random.pick(RequestPriority.allCases)
            request.specification.timeToLive = .seconds(Int.random(in: 1...2000, using: &random))
            request.owner = UInt32.random(in: 0...2, using: &random)
            if random.oneIn(5) {
                request.specification.body = .spooled(name: "b", bytes: Int64.random(in: 1...200_000, using: &random))
            }
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                request.specification.orderKey = random.pick(["x", "y"])
                request.specification.dependsOnPrevious = random.oneIn(3)
            case 1:
                request.specification.uniqueness = .unique(
                    name: "u", mode: random.pick(RequestUniqueness.Mode.allCases))
            case 2: request.specification.uniqueness = .coalesce(key: "c")
            default: break
            }
            if random.oneIn(4) { request.specification.maximumAttempts = 2 }
            if random.oneIn(3) {
                // One that waits for its interceptor until it expires would hold up its order, too.
                let isAlone = request.specification.orderKey == nil && request.specification.uniqueness == .none
                request.specification.interceptor = isAlone && random.oneIn(10) ? "none" : "api"
            }
            lastTicket += 1
            send(.add(request, lastTicket))
            for transaction in toCommit {
                for case .insert(let stored, _) in transaction.changes where witness.conditions[stored.id] == nil {
                    witness.conditions[stored.id] = stored.condition
                    destinations[stored.id] = stored.destination
                    if stored.interceptor != nil { witness.intercepted.insert(stored.id) }
                    switch stored.uniqueness {
                    case .unique(let name, _): witness.orders[stored.id] = "\(stored.owner) u \(name)"
                    case .coalesce(let name): witness.orders[stored.id] = "\(stored.owner) c \(name)"
                    case .none, .joined: witness.orders[stored.id] = stored.orderKey.map { "\(stored.owner) o \($0)" }
                    }
                    ids.append(stored.id)
                }
            }
        }

        /// The store commits in order, some or all; what may be refused it refuses now and then.
        mutating func commit() {
            for _ in 0..<Int.random(in: 1...6, using: &random) where !toCommit.isEmpty {
                let transaction = toCommit.removeFirst()
                if transaction.mayBeRefused, random.oneIn(20) {
                    send(.notCommitted(transaction.number))
                } else {
                    for case .lease(let id, _, _, _, _) in transaction.changes { leases.insert(id) }
                    for change in transaction.changes { kept.apply(change) }
                    send(.committed(transaction.number))
                }
            }
        }

        /// The daemon is killed, and the next run restores what the store has committed.
        mutating func restart() {
            restarts += 1
            toCommit = []
            leases = []
            lookups = []
            witness.endRun()
            // No number is given twice, not even that of a request that was never committed.
            let firstID = (ids.last?.rawValue ?? 0) + 1
            queue = QueueScheduler(policy, firstID: firstID, seed: random.next(), at: moment)
            send(.interceptors(["api"]))
            for input in kept.inputs(pieces: Int.random(in: 1...3, using: &random)) { send(input) }
            send(.paths(PathSet(witness.paths, epoch: epoch, links: [2, 3])))
        }

        /// Interceptors finish some of what they have.
        mutating func intercept() {
            for _ in 0..<4 {
                if let id = witness.preparing.sorted().randomElement(using: &random) {
                    witness.preparing.remove(id)
                    let isReady = !random.oneIn(20)
                    if isReady { witness.prepared.insert(id) }
                    send(.prepared(id, isReady: isReady))
                }
                if let id = witness.judged.sorted().randomElement(using: &random) {
                    witness.judged.remove(id)
                    let result = RequestResult(status: random.pick([200, 302, 401, 503]))
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: send(.judged(id, .again(after: .seconds(Int.random(in: 0...5, using: &random)))))
                    case 1: send(.judged(id, .refused(result)))
                    default: send(.judged(id, .stands(.answered(result, isAccepted: result.status == 200))))
                    }
                }
            }
        }

        mutating func end() {
            guard let id = witness.running.sorted().randomElement(using: &random) else { return }
            if witness.intercepted.contains(id), random.oneIn(2) {
                witness.running.remove(id)
                witness.judged.insert(id)
                return send(.answerHeld(id))
            }
            let end: AttemptEnd
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4: end = .answered(RequestResult(status: 200), isAccepted: true)
            case 4: end = .answered(RequestResult(status: random.pick([401, 404])), isAccepted: false)
            case 5, 6:
                let headers = random.oneIn(3) ? [HeaderField("Retry-After", "7")] : []
                end = .answered(RequestResult(status: 503, headers: headers), isAccepted: false)
            case 7: end = .failed(AttemptFault(.localNetwork))
            default:
                let kinds: [AttemptFault.Kind] = [.transient, .transient, .interface, .certificateTime, .pin]
                end = .failed(AttemptFault(random.pick(kinds), isAnswered: random.oneIn(3)))
            }
            witness.running.remove(id)
            send(.ended(id, end))
        }

        mutating func changePaths() {
            let all: [QueuePath] = [.wired, .wifi, .wwan]
            var paths = all.filter { _ in random.oneIn(2) }
            for index in paths.indices where random.oneIn(4) { paths[index].isMetered.toggle() }
            for index in paths.indices where random.oneIn(6) { paths[index].isValidated = false }
            if random.oneIn(3) { epoch += 1 }
            witness.paths = paths
            send(.paths(PathSet(paths, epoch: epoch, links: random.oneIn(5) ? [] : [2, 3])))
        }

        mutating func pass() {
            let end = elapsed + Int64.random(in: 0...20_000_000_000, using: &random)
            var wakings = 0
            while let deadline = queue.deadline, deadline.nanoseconds <= end {
                elapsed = max(elapsed, deadline.nanoseconds)
                send(.wake)
                wakings += 1
                if wakings > 100_000 { return witness.faults.append("it never sleeps") }
            }
            elapsed = end
        }

        mutating func control() {
            guard let id = ids.suffix(200).randomElement(using: &random) else { return }
            lastTicket += 1
            let client = QueueInput.Client(user: UInt32.random(in: 0...2, using: &random))
            switch Int.random(in: 0..<10, using: &random) {
            case 0: send(.hold(id, client, lastTicket))
            case 1, 2: send(.release(id, client, lastTicket))
            case 3: send(.cancel(id, client, lastTicket))
            case 4: send(.retry(id, client, lastTicket))
            case 5: send(.retryAll(nil, client, lastTicket))
            case 6: send(.holdQueue(client, lastTicket))
            case 7: send(.releaseQueue(client, lastTicket))
            case 8: send(.setFleetHold(Bool.random(using: &random), reason: nil, lastTicket))
            case 9: send(.setFleetHold(false, reason: nil, lastTicket))
            // Or all would be held nearly all of the time.
            default: send(.releaseQueue(.root, lastTicket))
            }
        }

        /// Ends all requests, lets what they have set off end too, and looks for what is left of them.
        mutating func end(all: [RequestID]) {
            for user in UInt32(0)...2 { control { .releaseQueue(QueueInput.Client(user: user), $0) } }
            control { .setFleetHold(false, reason: nil, $0) }
            send(.degraded(false))
            for _ in 0..<3 {
                commitAll()
                for id in all where queue.state(of: id) != nil { control { .cancel(id, .root, $0) } }
                commitAll()
                for id in all where queue.state(of: id) == .dead { control { .forget(id, .root, $0) } }
            }
            for destination in lookups { send(.lookedUp(destination, nil)) }
            send(.paths(PathSet([.wired, .wifi, .wwan], epoch: epoch + 1, links: [2, 3, 4])))
            for _ in 0..<1000 {
                guard let deadline = queue.deadline else { break }
                elapsed = max(elapsed, deadline.nanoseconds)
                send(.wake)
            }
            if let deadline = queue.deadline { witness.faults.append("it still waits for \(deadline)") }
            witness.faults += queue.brokenRules() + queue.leftovers(hasFailed: true)
        }

        private mutating func control(_ command: (QueueInput.Ticket) -> QueueInput) {
            lastTicket += 1
            send(command(lastTicket))
        }

        private mutating func commitAll() {
            while !toCommit.isEmpty {
                let transaction = toCommit.removeFirst()
                for case .lease(let id, _, _, _, _) in transaction.changes { leases.insert(id) }
                send(.committed(transaction.number))
            }
        }

        /// Blockers are empty exactly when it is ready; and what is ready is started.
        mutating func check() {
            for id in ids.suffix(60) {
                guard let explanation = queue.explain(id, at: moment) else { continue }
                let isFree = explanation.reasons.isEmpty
                switch explanation.state {
                case .ready: if !isFree { witness.faults.append("\(id) is ready and blocked") }
                case .waiting, .backoff, .held: if isFree { witness.faults.append("\(id) waits for nothing") }
                default: break
                }
                if explanation.reasons.allSatisfy({ $0.blocker == .canary }), !isFree, queue.deadline == nil,
                    witness.running.isEmpty, toCommit.isEmpty
                {
                    witness.faults.append("\(id) waits for a canary that no one sends")
                }
                if explanation.state == .ready, queue.deadline.map({ $0 > moment.boot }) ?? true {
                    witness.faults.append("\(id) is ready and was not started \(explanation)")
                }
            }
        }
    }

    @Test(arguments: 0..<20)
    func `whatever happens in whatever order, the rules hold`(seed: UInt64) {
        // A million steps take a minute or two where nothing is optimised: REACH_LONG_TESTS=1 takes them all.
        let steps = getenv("REACH_LONG_TESTS") == nil ? 5000 : 50_000
        print("seed \(seed), \(steps) steps")
        var walk = Walk(seed: seed)
        for step in 0..<steps {
            walk.step()
            if step % 50 == 0 { walk.check() }
            if step % 250 == 0 { walk.witness.faults += walk.queue.brokenRules() }
            guard walk.witness.faults.isEmpty else { break }
        }
        if walk.witness.faults.isEmpty { walk.end(all: walk.ids) }
        #expect(walk.witness.faults.isEmpty, "seed \(seed): \(walk.witness.faults.prefix(3))")
        #expect(walk.starts > steps / 100)
        #expect(walk.restarts > 0)
    }
}
