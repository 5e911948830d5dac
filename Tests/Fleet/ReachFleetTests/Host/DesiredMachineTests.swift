import ReachCore
import ReachFleet
import ReachTesting
import Testing

/// A host's machine, the operator's bucket, and a daemon that sometimes refuses.
private struct Ground {
    var machine = DesiredMachine(host: "till-1", groups: ["tills", "berlin"])
    var bucket: [String: DesiredMachine.Document] = [:]
    var revision: UInt64 = 0
    /// What the daemon does.
    var held: DesiredMachine.Order?
    var daemonWorks = true
    /// Actions that are not answered yet.
    var open: [DesiredMachine.Action] = []
    var reports: [UInt64] = []
    var clock: Int64 = 1_000_000_000

    var now: Instant {
        Instant(
            wall: Timestamp(nanosecondsSince1970: 1_795_000_000_000_000_000 + clock), boot: .init(nanoseconds: clock))
    }

    mutating func write(
        _ key: String, _ queue: DesiredState.Queue?, fraction: Double = 1, reason: String? = nil, lasts: Duration? = nil
    ) -> [UInt8] {
        revision += 1
        let value =
            queue.map {
                DesiredState(
                    queue: $0, reason: reason, rollout: "r", fraction: fraction, until: lasts.map { now.wall + $0 }
                ).bytes
            } ?? []
        bucket[key] = .init(revision: revision, value: value)
        return value
    }

    mutating func handle(_ input: DesiredMachine.Input) {
        let actions = machine.handle(input, at: now)
        for case .report(let revision) in actions { reports.append(revision) }
        open += actions.filter { if case .report = $0 { false } else { true } }
    }

    /// Answers what is asked, and lets time pass, until nothing is due within a minute.
    mutating func settle() {
        for _ in 0..<1000 {
            if open.isEmpty {
                guard let due = machine.deadline, due <= now.boot + .seconds(60) else { return }
                clock = max(clock, due.nanoseconds)
                handle(.tick)
            } else {
                answerFirst()
            }
        }
        Issue.record("it does not come to rest")
    }

    mutating func answerFirst() {
        switch open.removeFirst() {
        case .read(let number): handle(.read(number, machine.keys.map { bucket[$0] ?? .init() }))
        case .apply(let order):
            if daemonWorks { held = order }
            handle(.applied(daemonWorks))
        case .report: break
        }
    }
}

@Suite struct DesiredMachineTests {
    @Test func `the most specific document that is for the host and still valid counts`() throws {
        var ground = Ground()
        ground.handle(.connected)
        ground.settle()
        #expect(ground.held == .init(isHeld: false) && ground.reports == [0])
        let steps: [(String, DesiredState.Queue?, Bool)] = [
            ("all", .held, true), ("group.berlin", .released, false), ("group.tills", .held, true),
            ("host.till-1", .released, false), ("host.till-2", .held, false), ("host.till-1", nil, true),
            ("group.tills", nil, false), ("group.berlin", nil, true), ("all", .released, false),
        ]
        for (key, queue, isHeld) in steps {
            let value = ground.write(key, queue)
            if ground.machine.keys.contains(key) { ground.handle(.announced(value)) }
            ground.settle()
            #expect(ground.held?.isHeld == isHeld, "\(key) \(queue?.rawValue ?? "deleted")")
        }
        #expect(ground.reports.last == ground.revision)
    }

    @Test func `a host that was away converges when it returns, and a hold ends with its validity`() {
        var ground = Ground()
        _ = ground.write("all", .held, reason: "rollout", lasts: .seconds(3600))
        ground.handle(.connected)
        ground.settle()
        #expect(ground.held == .init(isHeld: true, reason: "rollout") && ground.reports == [1])
        ground.handle(.disconnected)
        ground.clock += 3_600_000_000_001
        // Also without a connection.
        #expect(ground.machine.deadline.map { $0 <= ground.now.boot } == true)
        ground.handle(.tick)
        ground.settle()
        #expect(ground.held == .init(isHeld: false))
        _ = ground.write("group.tills", .held)
        ground.settle()
        #expect(ground.held == .init(isHeld: false))
        ground.handle(.connected)
        ground.settle()
        #expect(ground.held == .init(isHeld: true) && ground.reports.last == 2)
    }

    @Test func `a part of the hosts draws lots, and a larger part includes the smaller`() {
        var counts: [Int] = []
        var before: Set<Int> = []
        for fraction in [0.01, 0.1, 0.5, 1] {
            let document = DesiredMachine.Document(
                revision: 1, value: DesiredState(queue: .held, rollout: "r", fraction: fraction).bytes)
            let held = Set(
                (0..<2000).filter {
                    DesiredMachine.order(of: [document], host: "h\($0)", at: Ground().now.wall).order.isHeld
                })
            #expect(before.isSubset(of: held))
            before = held
            counts.append(held.count)
        }
        #expect((5...40).contains(counts[0]) && (150...250).contains(counts[1]) && counts[3] == 2000)
    }

    @Test func `a daemon that refuses or was away gets the order later, and nothing is reported before`() {
        var ground = Ground()
        ground.daemonWorks = false
        _ = ground.write("all", .held)
        ground.handle(.connected)
        ground.settle()
        #expect(ground.held == nil && ground.reports.isEmpty)
        ground.daemonWorks = true
        ground.handle(.daemonReturned)
        ground.settle()
        #expect(ground.held == .init(isHeld: true) && ground.reports == [1])
        ground.held = nil
        ground.handle(.daemonReturned)
        ground.settle()
        #expect(ground.held == .init(isHeld: true) && ground.reports == [1])
    }

    @Test func `an order is given once at a time, and one that was refused again only after a while`() {
        var ground = Ground()
        ground.daemonWorks = false
        _ = ground.write("all", .held)
        ground.handle(.connected)
        ground.answerFirst()
        #expect(ground.open == [.apply(.init(isHeld: true))])
        ground.clock += 1000
        ground.handle(.tick)
        #expect(ground.open.count == 1, "the daemon has not answered yet")
        ground.answerFirst()
        ground.clock += 1000
        ground.handle(.tick)
        #expect(ground.open == [], "it has just refused")
        ground.clock += 1_100_000_000
        ground.handle(.tick)
        #expect(ground.open == [.apply(.init(isHeld: true))])
    }

    @Test func `an announcement that precedes its storing is read again`() {
        var ground = Ground()
        ground.handle(.connected)
        ground.settle()
        var later = ground
        let value = later.write("all", .held)
        ground.handle(.announced(value))
        ground.clock += 100_000_000
        ground.handle(.tick)
        ground.answerFirst()
        #expect(ground.held == .init(isHeld: false))
        (ground.bucket, ground.revision) = (later.bucket, later.revision)
        ground.settle()
        #expect(ground.held == .init(isHeld: true) && ground.reports == [0, 1])
    }

    @Test func `the documents are read once at a time, and an earlier or a partial answer is none`() {
        var ground = Ground()
        ground.handle(.connected)
        #expect(ground.open == [.read(1)])
        ground.handle(.announced([]))
        ground.clock += 5_000_000_000
        ground.handle(.tick)
        #expect(ground.open == [.read(1)], "the answer is not there yet")
        ground.handle(.read(1, []))
        #expect(ground.open == [.read(1)] && ground.reports == [], "it lacks documents")
        ground.clock += 5_000_000_000
        ground.handle(.tick)
        #expect(ground.open == [.read(1), .read(2)])
        ground.handle(.read(1, ground.machine.keys.map { _ in .init() }))
        #expect(ground.open == [.read(1), .read(2)], "it is late")
        ground.handle(.read(2, ground.machine.keys.map { _ in .init() }))
        #expect(ground.open.last == .apply(.init(isHeld: false)))
    }

    @Test func `what is not understood is neither applied nor reported, and lost answers are asked for again`() {
        var ground = Ground()
        ground.bucket["host.till-1"] = .init(revision: 9, value: Array("{\"queue\":\"sideways\"}".utf8))
        _ = ground.write("all", .held)
        ground.handle(.connected)
        // The answer is lost.
        ground.open = []
        ground.settle()
        #expect(ground.held == .init(isHeld: true) && ground.reports == [1])
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `whatever is lost and whoever restarts, in the end the host does what is wanted`(seed: UInt64) {
        var ground = Ground()
        var random = SeededGenerator(seed: seed)
        let keys = ground.machine.keys
        for _ in 0..<120 {
            ground.clock += Int64.random(in: 1...4000, using: &random) * 1_000_000
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3:
                let queue: DesiredState.Queue? = [.held, .released, nil].randomElement(using: &random)!
                let value = ground.write(
                    keys.randomElement(using: &random)!, queue, fraction: [0.2, 1].randomElement(using: &random)!)
                if Bool.random(using: &random) { ground.handle(.announced(value)) }
            case 3: ground.handle(.disconnected)
            case 4: ground.handle(.connected)
            case 5:
                ground.held = nil
                ground.handle(.daemonReturned)
            case 6: ground.daemonWorks = Bool.random(using: &random)
            case 7: ground.open = []  // the agent's requests are lost
            default:
                if !ground.open.isEmpty { ground.answerFirst() } else { ground.handle(.tick) }
            }
            #expect(ground.machine.deadline.map { $0 >= .init(nanoseconds: 0) } ?? true)
        }
        ground.daemonWorks = true
        ground.open = []
        ground.handle(.disconnected)
        ground.handle(.daemonReturned)
        ground.handle(.connected)
        ground.settle()
        let wanted = DesiredMachine.order(
            of: keys.map { ground.bucket[$0] ?? .init() }, host: "till-1", at: ground.now.wall
        ).order
        #expect(ground.held == wanted)
        #expect(ground.reports.last == keys.compactMap { ground.bucket[$0]?.revision }.max() ?? 0)
    }
}
