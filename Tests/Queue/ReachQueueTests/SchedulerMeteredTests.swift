import ReachCore
import ReachQueue
import ReachTesting
import Testing

/// Budgets for metered links.
@Suite struct SchedulerMeteredTests {
    private static func stage(_ change: (inout MeteredPolicy) -> Void) -> QueueStage {
        var policy = QueuePolicy()
        change(&policy.metered)
        return QueueStage(policy)
    }

    private static func budget(_ text: String) -> MeteredBudget? { MeteredBudget(text) }

    /// The stage begins on 18 November 2026.
    private static let untilDecember = Duration.seconds(13 * 86_400)

    @Test func `a budget that is used up holds requests back on metered links alone, until its next period`() throws {
        var stage = Self.stage { $0.all = Self.budget("1 MiB/month") }
        stage.network([.wwan])
        let first = try stage.add()
        stage.spend(first, 1 << 20)
        stage.answer(first)
        let second = try stage.add("https://b.example/")
        #expect(stage.blockers(second) == ["metered-budget"])
        let reason = try #require(stage.explanation(second)?.reasons.first)
        #expect(reason.text == "The budget of 1 MiB/month for metered links is used up.")
        #expect(
            reason.remedy
                == "It starts when there is an unmetered link, or when the next period begins on 2026-12-01.")
        stage.network([.wwan, .wifi])
        stage.pass(.seconds(5))
        #expect(stage.startedIDs == [first, second], "an unmetered link goes on as ever")
        stage.answer(second)
        stage.network([.wwan])
        let third = try stage.add("https://c.example/")
        stage.pass(Self.untilDecember - .seconds(86_400))
        #expect(stage.blockers(third) == ["metered-budget"])
        stage.pass(.seconds(86_400 + 7200))
        #expect(stage.startedIDs == [first, second, third])
        #expect(stage.events.contains { $0.kind == .meteredRenewed && $0.budget?.left == 1 << 20 })
    }

    @Test func `a request over budget is sent, and its bytes count`() throws {
        var stage = Self.stage { $0.all = Self.budget("1 MiB/day") }
        stage.network([.wwan])
        let first = try stage.add()
        stage.spend(first, 1 << 20)
        stage.answer(first)
        let urgent = try stage.add { $0.isOverBudget = true }
        stage.pass(.seconds(5))
        #expect(stage.startedIDs == [first, urgent])
        stage.spend(urgent, 5 << 20, isLast: false)
        #expect(stage.aborted.isEmpty)
        stage.spend(urgent, 5 << 20)
        stage.answer(urgent)
        #expect(stage.queue.meteredReports(for: .root, at: stage.moment.wall).map(\.used) == [6 << 20])
    }

    @Test func `one user's budget holds back no one else, nor root`() throws {
        var stage = Self.stage { $0.perUser = Self.budget("1 MiB/week") }
        stage.network([.wwan])
        let first = try stage.add(by: 1000)
        stage.spend(first, 2 << 20)
        stage.answer(first)
        let (own, other, root) = (try stage.add(by: 1000), try stage.add(by: 1001), try stage.add(by: 0))
        stage.pass(.seconds(5))
        #expect(stage.blockers(own) == ["metered-budget"])
        #expect(Set(stage.startedIDs) == [first, other, root])
        #expect(stage.queue.meteredReports(for: .init(user: 1001), at: stage.moment.wall).map(\.used) == [0])
        let events = stage.events.filter { $0.kind == .meteredUsed }
        #expect(events.map(\.owner) == [1000], "only that user gets the event")
    }

    @Test func `a budget that is new holds back what waits, of each user by itself, and not what is over it`()
        throws
    {
        var stage = QueueStage()
        stage.network([])
        let own = try ["https://a.example/1", "https://a.example/2"].map { try stage.add($0, by: 1000) }
        let other = try stage.add("https://b.example/", by: 1001)
        let urgent = try stage.add("https://c.example/", by: 1000) { $0.isOverBudget = true }
        var policy = stage.queue.policy
        policy.metered.perUser = Self.budget("1 MiB/month")
        policy.slots.all = 1
        stage.send(.policy(policy))
        stage.network([.wwan])
        // Less than the grace after which users take turns with the only slot.
        for _ in 0..<60 {
            stage.pass(.seconds(3))
            guard let id = stage.startedIDs.last, stage.state(id) == .running else { continue }
            if own.contains(id) { stage.spend(id, 2 << 20) }
            stage.answer(id)
        }
        let held = try #require(own.first { !stage.startedIDs.contains($0) }, "\(stage.startedIDs)")
        #expect(Set(stage.startedIDs) == Set(own + [other, urgent]).subtracting([held]))
        #expect(stage.blockers(held) == ["metered-budget"])
        policy.metered.perUser = nil
        stage.send(.policy(policy))
        stage.pass(.seconds(5))
        #expect(stage.startedIDs.last == held, "without the budget nothing holds it back")
    }

    @Test func `a link that comes back with another number has the same budget, and other links have none of it`()
        throws
    {
        var stage = Self.stage { $0.links = [.init(Glob("wwan*"), Self.budget("1 MiB/month")!)] }
        stage.network([.wwan])
        let first = try stage.add()
        stage.spend(first, 1 << 20)
        stage.answer(first)
        let renamed = QueuePath.path(9, "wwan1", .wwan)
        stage.network([renamed])
        let second = try stage.add("https://b.example/")
        stage.pass(.seconds(60))
        #expect(stage.blockers(second) == ["metered-budget"])
        stage.network([renamed, QueuePath.path(10, "usb0", .wwan)])
        stage.pass(.seconds(60))
        #expect(stage.starts.last?.order.path.interface == "usb0")
        #expect(stage.starts.last?.order.bar.bars(renamed) == true, "nor may its addresses use the other")
    }

    @Test func `80 and 100 percent are reported once a period, also over a restart`() throws {
        var stage = Self.stage { $0.all = Self.budget("1000 KiB/month") }
        stage.network([.wwan])
        let id = try stage.add { $0.isOverBudget = true }
        for total in stride(from: 100, through: 1500, by: 100) {
            stage.spend(id, Int64(total) << 10, isLast: false)
        }
        #expect(stage.budgetEvents == [.meteredLow, .meteredUsed])
        stage.restart()
        let next = try stage.add("https://b.example/") { $0.isOverBudget = true }
        stage.network([.wwan])
        stage.pass(.seconds(5))
        stage.spend(next, 100 << 10)
        #expect(stage.budgetEvents == [.meteredLow, .meteredUsed])
    }

    // MARK: A running attempt that crosses the limit

    @Test func `an attempt that uses the budget up is interrupted, and resumes in the next period`() throws {
        var stage = Self.stage { $0.all = Self.budget("1 MiB/month") }
        stage.network([.wwan])
        let id = try stage.add()
        stage.spend(id, 900 << 10, left: 10 << 20, isLast: false)
        #expect(stage.state(id) == .running)
        stage.spend(id, 1100 << 10, left: 9 << 20, isLast: false)
        #expect(stage.aborted == [id])
        stage.spend(id, 1110 << 10)
        #expect(stage.blockers(id) == ["metered-budget"])
        let event = try #require(stage.events.last { $0.kind == .interrupted })
        #expect(event.reason == "metered-budget")
        #expect(stage.explanation(id)?.attempts == 0, "it is no failure")
        #expect(stage.queue.meteredReports(for: .root, at: stage.moment.wall).map(\.used) == [1110 << 10])
    }

    @Test(arguments: [true, false])
    func `what may not be repeated, or is nearly over, finishes`(isOnce: Bool) throws {
        var stage = Self.stage { $0.all = Self.budget("1 MiB/month") }
        stage.network([.wwan])
        let id = try stage.add { request in
            request.method = "POST"
            request.idempotency = isOnce ? .never : .key("k")
        }
        stage.send(.requestSent(id))
        stage.spend(id, 2 << 20, left: isOnce ? 10 << 20 : 60 << 10, isLast: false)
        #expect(stage.aborted.isEmpty)
        #expect(stage.state(id) == .running)
    }

    @Test func `a body that is larger than what is left waits, and smaller ones go`() throws {
        var stage = Self.stage { $0.all = Self.budget("1 MiB/month") }
        stage.network([.wwan])
        let large = try stage.add { request in
            request.method = "PUT"
            request.body = .spooled(name: "b", bytes: 3 << 20)
        }
        let small = try stage.add()
        stage.pass(.seconds(5))
        #expect(stage.startedIDs == [small])
        stage.spend(small, 0)
        stage.answer(small)
        #expect(stage.blockers(large) == ["metered-budget"])
        #expect(
            stage.explanation(large)?.reasons.first?.text
                == "The budget of 1 MiB/month for metered links has 1.0 MiB left, and its body has 3.0 MiB.")
        stage.network([.wifi])
        stage.pass(.seconds(5))
        #expect(stage.startedIDs == [small, large])
    }

    @Test func `a link that becomes metered while it is used counts from then on`() throws {
        var stage = Self.stage { $0.all = Self.budget("1 MiB/month") }
        stage.network([.wifi])
        let id = try stage.add()
        stage.spend(id, 5 << 20, left: 50 << 20, isLast: false)
        #expect(stage.used == [0])
        stage.network([.wifi.with { $0.isMetered = true }], newEpoch: false)
        stage.spend(id, 5 << 20 | 600 << 10, left: 50 << 20, isLast: false)
        #expect(stage.used == [600 << 10])
    }

    // MARK: Clocks

    @Test func `a clock that is set back gives no budget again`() throws {
        var stage = Self.stage { $0.all = Self.budget("1 MiB/day") }
        stage.network([.wwan])
        let id = try stage.add()
        stage.spend(id, 1 << 20)
        stage.answer(id)
        let waiting = try stage.add("https://b.example/")
        for step in [-1, 0, -1, -20, 0] {
            stage.wallStep = .seconds(step * 86_400)
            stage.pass(.seconds(3700))
        }
        #expect(stage.startedIDs == [id])
        stage.wallStep = .zero
        stage.pass(.seconds(86_400))
        #expect(stage.startedIDs == [id, waiting])
    }

    @Test func `a machine that starts in 1970 counts, and gives no new budget when its clock is set`() throws {
        var stage = Self.stage { $0.all = Self.budget("1 MiB/day") }
        stage.wallStep = .seconds(-1_795_000_000)
        stage.network([.wwan])
        let id = try stage.add()
        stage.spend(id, 1 << 20)
        stage.answer(id)
        let waiting = try stage.add("https://b.example/")
        let remedy = try #require(stage.explanation(waiting)?.reasons.first?.remedy)
        #expect(remedy == "It starts when there is an unmetered link; periods begin when the clock is set.")
        stage.pass(.seconds(3 * 86_400))
        stage.wallStep = .zero
        stage.pass(.seconds(3700))
        #expect(stage.startedIDs == [id])
        stage.pass(.seconds(86_400))
        #expect(stage.startedIDs == [id, waiting])
    }

    // MARK: What is on the disk

    @Test func `after a kill an attempt counts as what was set aside for it: at most 256 KiB more than it moved`()
        throws
    {
        var stage = Self.stage { $0.all = Self.budget("100 MiB/month") }
        stage.network([.wwan])
        let id = try stage.add()
        var moved: Int64 = 0
        for step: Int64 in [100, 3000, 70_000, 10_000, 300_000, 1, 2_000_000, 5] {
            moved += step
            stage.spend(id, moved, left: 1 << 30, isLast: false)
            let kept = try #require(stage.keptAccounts[.all]?.bytes)
            #expect(kept >= moved && kept <= moved + 256 << 10)
        }
        stage.restart()
        let used = try #require(stage.used.first)
        #expect(used >= moved && used <= moved + 256 << 10)
        // The end of the run before is not reported once more.
        stage.network([.wwan])
        stage.pass(.seconds(5))
        stage.spend(id, 1000)
        stage.answer(id)
        #expect(stage.used == [used + 1000])
    }

    @Test(arguments: 0..<40)
    func `walks with kills lose nothing that was reported, and count nothing twice`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var stage = Self.stage {
            $0.all = Self.budget("1 GiB/month")
            $0.perUser = Self.budget("1 GiB/month")
        }
        stage.network([.wwan])
        var (moved, attempts): (Int64, Int64) = (0, 0)
        var totals: [RequestID: Int64] = [:]
        for _ in 0..<300 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2: _ = try? stage.add("https://h\(Int.random(in: 0..<9, using: &random)).example/", by: 7)
            case 3...6:
                guard let id = stage.running.randomElement(using: &random) else { continue }
                let more = Int64.random(in: 0..<400_000, using: &random)
                totals[id, default: 0] += more
                moved += more
                stage.spend(id, totals[id]!, left: 1 << 30, isLast: false)
            case 7:
                guard let id = stage.running.randomElement(using: &random) else { continue }
                stage.spend(id, totals.removeValue(forKey: id) ?? 0)
                stage.answer(id, Bool.random(using: &random) ? 200 : 503)
            case 8:
                attempts += Int64(stage.running.count)
                totals = [:]
                stage.restart()
                stage.network([.wwan])
            default: stage.pass(.seconds(Int.random(in: 0..<30, using: &random)))
            }
        }
        for scope in [MeteredScope.all, .user(7)] where moved > 0 {
            let kept = stage.keptAccounts[scope]?.bytes ?? 0
            let running = Int64(stage.running.count)
            #expect(kept >= moved, "\(scope): \(kept) of \(moved)")
            #expect(kept <= moved + (attempts + running) * (256 << 10), "\(scope): \(kept) of \(moved)")
        }
    }

    @Test func `without a budget nothing is counted or written`() throws {
        var stage = QueueStage()
        stage.network([.wwan])
        let id = try stage.add()
        #expect(stage.starts[0].order.isCounted == false)
        stage.answer(id)
        #expect(stage.keptAccounts.isEmpty)
    }
}

extension QueueStage {
    /// The running attempts.
    fileprivate var running: [RequestID] { Set(startedIDs).filter { state($0)?.isRunning == true }.sorted() }

    fileprivate var used: [Int64] { queue.meteredReports(for: .root, at: moment.wall).map(\.used) }

    fileprivate var budgetEvents: [QueueEvent.Kind] {
        events.filter { $0.budget != nil && $0.kind != .meteredRenewed }.map(\.kind)
    }

    /// What the store has, as the last of its transactions say.
    fileprivate var keptAccounts: [MeteredScope: MeteredAccount] {
        transactions.flatMap(\.changes).reduce(into: [:]) { kept, change in
            if case .setMetered(let account) = change { kept[account.scope] = account }
        }
    }

    fileprivate mutating func spend(_ id: RequestID, _ total: Int64, left: Int64? = nil, isLast: Bool = true) {
        guard let number = starts.last(where: { $0.order.id == id })?.order.number else { return }
        send(.spent(id, attempt: number, total: total, left: left, isLast: isLast))
    }

    /// The process is killed: the next run has what was committed.
    fileprivate mutating func restart() {
        let kept = KeptRequests(transactions.flatMap(\.changes))
        let (accounts, zone) = (keptAccounts, queue.zone)
        queue = QueueScheduler(queue.policy, firstID: 1_000 + Int64(transactions.count), seed: 7, at: moment)
        queue.zone = zone
        send(.restoreMetered(accounts.values.sorted { $0.scope.text < $1.scope.text }))
        for input in kept.inputs(pieces: 1) { send(input) }
    }
}
