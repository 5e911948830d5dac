import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop

/// How hosts reach the engine.
struct EngineAccess: Sendable {
    /// Of the connections that hosts share.
    var settings: NATSSettings
    /// The folder with the keys of the hosts that have their own.
    var keys: String?

    func settings(of host: String) throws(NATSError) -> NATSSettings {
        var own = settings
        own.identity = try NATSIdentity.read("\(keys ?? ".")/\(host).nk")
        own.inbox = FleetRights.hostInbox(host)
        return own
    }
}

/// Some of the hosts, on one thread. Most share its connection.
final class Worker {
    private let number: Int
    private var hosts: [SimulatedHost]
    private let access: EngineAccess
    private let clock: SimulationClock
    private let team: Team
    private var engine: Engine?
    /// The connections of hosts with a key.
    private var ownEngines: [Int: Engine] = [:]
    private var nextConnection = BootTime(nanoseconds: 0)
    private var nextTally = BootTime(nanoseconds: 0)
    /// When the script does something to a host, by its index here; the latest first.
    private var script: [(time: BootTime, host: Int, step: ScriptStep)] = []
    private var timers = TimerQueue()
    private var hostOfTimer: [TimerQueue.ID: Int] = [:]
    private var timerOfHost: [TimerQueue.ID?]

    init(_ number: Int, _ hosts: [SimulatedHost], _ access: EngineAccess, _ clock: SimulationClock, _ team: Team) {
        self.number = number
        self.hosts = hosts
        self.access = access
        self.clock = clock
        self.team = team
        timerOfHost = Array(repeating: nil, count: hosts.count)
    }

    private var present: Instant { clock.now }

    /// Runs until the team is over.
    func run() -> [SimulatedHost] {
        connect()
        for index in hosts.indices { start(index) }
        while !team.isOver {
            connect()
            runScript()
            while let timer = timers.popDue(at: clock.boot) {
                guard let index = hostOfTimer.removeValue(forKey: timer) else { continue }
                timerOfHost[index] = nil
                hosts[index].handle(.tick, present)
                perform(index)
            }
            let steps = team.endRound(number, tally())
            if !steps.isEmpty { script = (script + steps).sorted { $0.time > $1.time } }
            usleep(team.isFast ? 50 : 2000)
        }
        return hosts
    }

    private func start(_ index: Int) {
        hosts[index].handle(.path(exists: true, isMetered: false, epoch: 1), present)
        hosts[index].change(.reachable, nil, .start, present)
        hosts[index].handle(.start, present)
        perform(index)
    }

    private func tally() -> Tally? {
        guard SystemClock.boot >= nextTally else { return nil }
        nextTally = SystemClock.boot + .milliseconds(100)
        var tally = Tally(hosts: hosts.count)
        // By index, since a copy of a host costs more than the look at it.
        for index in hosts.indices {
            tally.behind += hosts[index].machine.behind
            if hosts[index].isCut {
                tally.cut += 1
            } else if hosts[index].word == .conflict {
                tally.conflict += 1
            } else if hosts[index].word == .refused {
                tally.refused += 1
            } else if hosts[index].isSettled {
                tally.settled += 1
            }
        }
        // Something is about to happen.
        if script.last.map({ $0.time <= clock.boot + .milliseconds(200) }) ?? false { tally.hosts += 1 }
        return tally
    }

    private func connect() {
        for (index, own) in ownEngines {
            guard let loss = own.loss else { continue }
            ownEngines[index] = nil
            hosts[index].handle(.disconnected(loss), present)
            perform(index)
        }
        if let engine {
            guard let loss = engine.loss else { return }
            self.engine = nil
            for index in hosts.indices where !hosts[index].isCut && !hosts[index].hasKey {
                hosts[index].handle(.disconnected(loss), present)
                perform(index)
            }
        }
        guard SystemClock.boot >= nextConnection else { return }
        nextConnection = SystemClock.boot + .milliseconds(500)
        engine = try? Engine(access.settings)
    }

    private func runScript() {
        let now = clock.boot
        while let next = script.last, next.time <= now {
            script.removeLast()
            switch next.step {
            case .cut(let isCut): hosts[next.host].cut(isCut, present)
            case .change(let status):
                let isDown = status == .notReachable
                hosts[next.host].change(
                    status, isDown ? .noCarrier : nil, isDown ? .carrierLost : .carrierGained, present)
            case .clone(let seed):
                hosts.append(hosts[next.host].cloned(seed: seed))
                timerOfHost.append(nil)
                start(hosts.count - 1)
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
        let open = hosts[index].isCut ? nil : hosts[index].hasKey ? ownEngines[index] : engine
        switch action {
        case .connect: hosts[index].handle(connection(of: index), present)
        case .readTail(let number):
            hosts[index].handle(.tail(number, open?.readTail(of: id) ?? .unavailable), present)
        case .readMark(let number):
            hosts[index].handle(.mark(number, open?.readMark(of: id) ?? .unavailable), present)
        case .openJournal(let cursor): hosts[index].openJournal(after: cursor, present)
        case .closeJournal: hosts[index].closeJournal()
        case .publish(let number, let chunk, let tail):
            let answer = open?.publish(chunk, of: id, expecting: tail) ?? .unavailable
            hosts[index].handle(.published(number, answer), present)
        case .putState(let state): hosts[index].handle(.stateStored(open?.put(state, of: id) ?? false), present)
        case .readLease: hosts[index].handle(.lease(open?.readLease(of: id) ?? .none), present)
        case .putLease(let lease):
            hosts[index].handle(.leaseStored(open?.put(lease, of: id) ?? false), present)
        case .deleteLease: open?.deleteLease(of: id)
        case .disconnect: ownEngines[index] = nil
        case .remember, .word: break
        }
    }

    private func connection(of index: Int) -> FleetMachine.Input {
        guard !hosts[index].isCut else { return .disconnected(.unreachable) }
        guard hosts[index].hasKey else { return engine.map { .connected($0.server) } ?? .disconnected(.unreachable) }
        do throws(NATSError) {
            let own = try Engine(try access.settings(of: hosts[index].id))
            ownEngines[index] = own
            return .connected(own.server)
        } catch {
            return .disconnected(Engine.loss(error.kind))
        }
    }
}
