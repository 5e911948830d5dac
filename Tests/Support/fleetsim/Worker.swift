import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import Synchronization

/// What the script does to a host.
enum ScriptStep: Sendable {
    case cut(Bool)
    /// A change of the path that the connection to the engine survives.
    case change(ReachabilityStatus)
}

/// Some of the hosts, on one thread with one connection.
final class Worker {
    private var hosts: [SimulatedHost]
    private let settings: NATSSettings
    private let leaseHasTime: Bool
    private var engine: Engine?
    private var nextConnection = BootTime(nanoseconds: 0)
    /// When the script does something to a host, by its index here; the latest first.
    private var script: [(time: BootTime, host: Int, step: ScriptStep)]
    private var timers = TimerQueue()
    private var hostOfTimer: [TimerQueue.ID: Int] = [:]
    private var timerOfHost: [TimerQueue.ID?]

    init(
        _ hosts: [SimulatedHost], _ settings: NATSSettings, leaseHasTime: Bool,
        script: [(time: BootTime, host: Int, step: ScriptStep)]
    ) {
        self.hosts = hosts
        self.settings = settings
        self.leaseHasTime = leaseHasTime
        self.script = script.sorted { $0.time > $1.time }
        timerOfHost = Array(repeating: nil, count: hosts.count)
    }

    private var present: Instant { Instant(wall: SystemClock.now.wall, boot: SystemClock.boot) }

    /// Runs until `end`, and then until the engine has everything, at most until `limit`; then it says so, and the hosts stay
    /// here until the run is over.
    func run(until end: BootTime, limit: BootTime, _ shares: Shares) -> [SimulatedHost] {
        var hasSettled = false
        connect()
        for index in hosts.indices {
            hosts[index].handle(.path(exists: true, isMetered: false, epoch: 1), present)
            hosts[index].change(.reachable, nil, .start, present)
            hosts[index].handle(.start, present)
            perform(index)
        }
        while !shares.isOver {
            if !hasSettled, SystemClock.boot >= end, isSettled || SystemClock.boot >= limit {
                hasSettled = true
                shares.settle()
            }
            connect()
            runScript()
            while let timer = timers.popDue(at: SystemClock.boot) {
                guard let index = hostOfTimer.removeValue(forKey: timer) else { continue }
                timerOfHost[index] = nil
                hosts[index].handle(.tick, present)
                perform(index)
            }
            usleep(2000)
        }
        return hosts
    }

    private var isSettled: Bool { hosts.allSatisfy { $0.isSettled || $0.isClone || $0.isCut || $0.word == .conflict } }

    private func connect() {
        if let engine, engine.isConnected { return }
        if engine != nil {
            engine = nil
            for index in hosts.indices where !hosts[index].isCut {
                hosts[index].handle(.disconnected(.unreachable), present)
                perform(index)
            }
        }
        guard SystemClock.boot >= nextConnection else { return }
        nextConnection = SystemClock.boot + .milliseconds(500)
        engine = try? Engine(settings, leaseHasTime: leaseHasTime)
    }

    private func runScript() {
        while let next = script.last, next.time <= SystemClock.boot {
            script.removeLast()
            switch next.step {
            case .cut(let isCut): hosts[next.host].cut(isCut, present)
            case .change(let status):
                guard !hosts[next.host].isCut else { continue }
                let isDown = status == .notReachable
                hosts[next.host].change(
                    status, isDown ? .noCarrier : nil, isDown ? .carrierLost : .carrierGained, present)
            }
            perform(next.host)
        }
    }

    /// Does what the machine wants, and what it wants next.
    private func perform(_ index: Int) {
        while !hosts[index].pending.isEmpty {
            let actions = hosts[index].pending
            hosts[index].pending = []
            for action in actions { perform(action, index) }
            if hosts[index].pending.isEmpty { hosts[index].readJournal(present) }
        }
        if let timer = timerOfHost[index] {
            timers.cancel(timer)
            hostOfTimer[timer] = nil
        }
        timerOfHost[index] = hosts[index].deadline.map { timers.add($0) }
        if let timer = timerOfHost[index] { hostOfTimer[timer] = index }
    }

    private func perform(_ action: FleetMachine.Action, _ index: Int) {
        let id = hosts[index].id
        let open = hosts[index].isCut ? nil : engine
        switch action {
        case .connect:
            hosts[index].handle(open.map { .connected($0.server) } ?? .disconnected(.unreachable), present)
        case .readTail(let number):
            hosts[index].handle(.tail(number, open?.readTail(of: id) ?? .unavailable), present)
        case .openJournal(let cursor): hosts[index].openJournal(after: cursor, present)
        case .closeJournal: hosts[index].closeJournal()
        case .publish(let number, let chunk, let tail):
            let answer = open?.publish(chunk, of: id, expecting: tail) ?? .unavailable
            hosts[index].handle(.published(number, answer), present)
        case .putState(let state): hosts[index].handle(.stateStored(open?.put(state, of: id) ?? false), present)
        case .putLease(let lease, let time):
            hosts[index].handle(.leaseStored(open?.put(lease, of: id, timeToLive: time) ?? false), present)
        case .deleteLease: open?.deleteLease(of: id)
        case .disconnect, .remember, .word: break
        }
    }
}
