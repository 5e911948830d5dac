internal import Glibc
internal import ReachCore
internal import ReachFleet
internal import ReachLoop
internal import ReachTerminal

/// Prints the messages of a watch for alerts, gives them to a program, and keeps what was reported in a file.
final class AlertDesk {
    private let isJSON: Bool
    private let filter: RosterFilter
    private let options: AlertOptions
    private let file: String?
    /// The programs that call the persons, the first first.
    private let runners: [AlertRunner?]
    private var machine: AlertMachine
    /// Since when the engine does not answer, and whether that was reported.
    private var outage: (since: Timestamp, isTold: Bool)?

    /// - Throws: ``FleetFailure`` if the file is there and is not what a watch wrote.
    init(_ options: AlertOptions, isJSON: Bool, filter: RosterFilter, file: String?, programs: [String?]) throws {
        self.isJSON = isJSON
        self.filter = filter
        self.options = options
        self.file = file
        runners = programs.map { $0.map { AlertRunner($0) } }
        machine = AlertMachine(options)
        guard let file, access(file, F_OK) == 0 else { return }
        guard let text = SmallFile.text(file, limit: AlertMachine.sizeLimit), machine.restore(Array(text.utf8)) else {
            throw FleetFailure(
                .cannotRead,
                "\(DisplayText.sanitized(file)): this is not what a watch for alerts wrote; remove it to begin again")
        }
    }

    func begin(_ state: FleetWatchState) {
        for host in state.roster.hosts { apply(host, host.presence(state.engine), state) }
        send(machine.begin(at: state.engine.now, facts(state)))
    }

    func change(_ change: FleetWatchState.Change, _ state: FleetWatchState) {
        apply(change.host, change.presence, state)
    }

    private func apply(_ host: RosterHost, _ presence: HostPresence, _ state: FleetWatchState) {
        // A host whose absence counted is followed until it is back, whatever the query says of it then.
        guard filter.includes(host, presence) || presence.word == .here || presence.word == .left else { return }
        machine.apply(host, presence, at: state.engine.now)
    }

    func forget(_ host: String) { machine.forget(host) }

    func tick(_ state: FleetWatchState) {
        guard outage == nil else { return tellOutage(state.engine.now) }
        send(machine.tick(state.engine.now, facts(state)))
    }

    private func facts(_ state: FleetWatchState) -> AlertMachine.Facts {
        AlertMachine.Facts(
            fleet: { AlertMachine.Fleet(state.roster, state.history, state.engine) },
            isQuiet: { id in
                guard let host = state.roster[id] else { return false }
                return state.notes.quietReason(host, host.presence(state.engine), at: state.engine.now) != nil
            },
            acknowledgement: {
                state.notes.acknowledgement(of: $0, about: $1, in: state.roster, at: state.engine.now)
            })
    }

    // MARK: - The engine

    func engine(isConnected: Bool, _ now: Timestamp) {
        guard isConnected else {
            if outage == nil { outage = (now, false) }
            return
        }
        guard let outage else { return }
        self.outage = nil
        guard outage.isTold else { return }
        send([
            AlertMessage(
                alert: "engine", .up, hosts: [], since: outage.since, over: now,
                sentence: [
                    .words(
                        "the fleet's server answers again after \(TimeWords.describe(outage.since.duration(to: now)))")
                ])
        ])
    }

    private func tellOutage(_ now: Timestamp) {
        guard let outage, !outage.isTold, outage.since + options.wait <= now else { return }
        self.outage?.isTold = true
        send([
            AlertMessage(
                alert: "engine", .down, hosts: [], since: outage.since,
                sentence: [
                    .words("the fleet's server does not answer since "), .time(outage.since),
                    .words("; nothing is known of the hosts until it does"),
                ])
        ])
    }

    // MARK: - Messages

    private func send(_ messages: [AlertMessage]) {
        for message in messages {
            let sentence = message.sentence.text(writing: TimeText.describe)
            var json = JSONWriter()
            json.alert(message, sentence: sentence)
            if isJSON {
                StandardOutput.write(String(decoding: json.bytes, as: UTF8.self) + "\n")
            } else {
                StandardOutput.write(lines: Self.text(message, sentence))
            }
            for (person, runner) in runners.enumerated() where message.concerns(person) {
                runner?.run(message, sentence, json.bytes)
            }
        }
        guard machine.hasChanged, let file else { return }
        do throws(SystemError) {
            try AtomicFile.replace(file, with: machine.bytes, mode: 0o600)
            machine.noteWritten()
        } catch {
            StandardError.write("reach-fleet: \(DisplayText.sanitized(error.description))\n")
        }
    }

    private static func text(_ message: AlertMessage, _ sentence: String) -> String {
        let style = TerminalStyle.current
        let colour: TerminalStyle.Colour =
            switch message.event {
            case .down, .reminder, .escalation: .red
            case .up: .green
            case .flapping, .steady: .yellow
            }
        let known = message.acknowledged.map { "; acknowledged by \($0)" } ?? ""
        let words = DisplayText.sanitized("\(sentence)\(known) [\(message.alert)]")
        return "\(TimeText.describe(SystemClock.now.wall))  \(style.paint(message.event.rawValue, colour))  \(words)\n"
    }
}
