package import ReachCore
package import ReachKernel
package import ReachRecords

/// A line whose quality is measured: a link with a default route that is proved to work.
package struct QualityPath: Hashable, Sendable {
    package var route: DefaultRoute
    /// Hosts in the Internet that recently answered a check, the latest first.
    package var witnesses: [IPAddress]

    package init(_ route: DefaultRoute, witnesses: [IPAddress]) {
        self.route = route
        self.witnesses = witnesses
    }
}

/// A command of a ``QualityMachine``.
package enum QualityCommand: Hashable, Sendable {
    package typealias Ticket = UInt64

    /// Read how many bytes the link has carried, and answer at once.
    case readBytes(DefaultRoute)
    /// Send an echo request.
    case echo(DefaultRoute, IPAddress, Ticket)
    /// Count the segments of the sockets on the path.
    case countSegments(DefaultRoute)
    /// Hosts that answered before do so no longer: check the path.
    case doubt
    /// What some minutes showed of a line.
    case record(QualityPeriod)
}

/// Measures what working lines are like. A pure value: paths, counters and answers go in; commands and a deadline come
/// out.
///
/// Each five seconds a line that is idle gets one echo request, to one of two witnesses in turn. Where bytes flow
/// nothing is sent: then the segments that TCP repeats show what is lost, and nothing says how fast the line is.
package struct QualityMachine {
    package typealias Ticket = QualityCommand.Ticket

    /// At most two packets in ten seconds.
    package static let usualInterval = Duration.seconds(5)
    private static let ticksOfMinute = 12
    /// With more than that in an interval, a line is busy: 50 kbit/s.
    static let busyBytes: UInt64 = 32 * 1024
    /// The witnesses that are asked. Two, so that one that limits its answers is not taken for the line.
    fileprivate static let witnessCount = 2
    /// A host that has never answered is not asked again after this many requests.
    fileprivate static let mostTries = 3
    /// Answers missing in a row, from hosts that answered before, until the path is checked.
    fileprivate static let missingAnswers = 4

    fileprivate struct Watch {
        var path: QualityPath
        var meter = QualityMeter()
        var bytes: UInt64?
        var outstanding: (ticket: Ticket, witness: IPAddress)?
        /// Answers of each witness, and requests in a row without one.
        var answers: [IPAddress: Int] = [:]
        var tries: [IPAddress: Int] = [:]
        var missing = 0
        var turn = 0
        var ticks = 0
        var minutes = 0
    }

    private var watches: [InterfaceIndex: Watch] = [:]
    private var nextTick: BootTime?
    private var lastTicket: Ticket = 0

    private let interval: Duration

    /// - Parameter interval: Shorter ones are for tests: a minute has 12 of them.
    package init(interval: Duration = usualInterval) { self.interval = interval }

    /// When to call ``timeReached(at:)``; `nil` while no line is measured.
    package var deadline: BootTime? { nextTick }

    /// What the lines are like that are measured, by the names of their interfaces.
    package var qualities: [String: LineQuality] {
        watches.values.reduce(into: [:]) { $0[$1.path.route.name] = $1.meter.quality }
    }

    /// Sets the lines to measure, at most one path for each interface, and forgets all others. A line that leads by
    /// another gateway is another line.
    package mutating func update(_ paths: [QualityPath], at now: BootTime) {
        let byInterface = Dictionary(paths.map { ($0.route.key.interface, $0) }) { first, _ in first }
        watches = watches.filter { index, watch in
            byInterface[index].map { $0.route.leadsToSameNetwork(as: watch.path.route) } ?? false
        }
        for (index, path) in byInterface { watches[index, default: Watch(path: path)].path = path }
        if watches.isEmpty { nextTick = nil } else if nextTick == nil { nextTick = now + interval }
    }

    /// Forgets everything, as after a sleep.
    package mutating func restart() { (watches, nextTick) = ([:], nil) }

    package mutating func timeReached(at now: BootTime) -> [QualityCommand] {
        guard let due = nextTick, now >= due else { return [] }
        nextTick = max(due + interval, now + interval / 2)
        var commands: [QualityCommand] = []
        for index in watches.keys.sorted() { commands += tick(index) }
        return commands
    }

    private mutating func tick(_ index: InterfaceIndex) -> [QualityCommand] {
        guard var watch = watches[index] else { return [] }
        defer { watches[index] = watch }
        var commands: [QualityCommand] = []
        if let (_, witness) = watch.outstanding {
            watch.outstanding = nil
            commands += watch.miss(witness)
        }
        watch.ticks += 1
        if watch.ticks.isMultiple(of: Self.ticksOfMinute) {
            watch.meter.endMinute()
            watch.minutes += 1
            if watch.minutes.isMultiple(of: QualityMeter.window),
                let period = watch.meter.period(of: watch.path.route.name)
            {
                commands.append(.record(period))
            }
        }
        return commands + [.readBytes(watch.path.route)]
    }

    /// Handles how many bytes a link has carried; `nil` if that is not known.
    package mutating func counted(_ bytes: UInt64?, by index: InterfaceIndex) -> [QualityCommand] {
        guard var watch = watches[index] else { return [] }
        defer { watches[index] = watch }
        let before = watch.bytes
        watch.bytes = bytes
        if let bytes, let before, bytes >= before, bytes - before >= Self.busyBytes {
            // Each second one, since a survey walks the kernel's whole table of sockets.
            return watch.ticks.isMultiple(of: 2) ? [.countSegments(watch.path.route)] : []
        }
        guard let witness = watch.nextWitness() else { return [] }
        lastTicket += 1
        watch.outstanding = (lastTicket, witness)
        return [.echo(watch.path.route, witness, lastTicket)]
    }

    package mutating func answered(_ ticket: Ticket, by index: InterfaceIndex, after roundTrip: Duration) {
        guard let (asked, witness) = watches[index]?.outstanding, asked == ticket else { return }
        watches[index]?.outstanding = nil
        watches[index]?.answers[witness, default: 0] += 1
        watches[index]?.missing = 0
        watches[index]?.meter.answered(by: witness, after: roundTrip)
    }

    /// Handles that this machine could not send a request, which is no packet of the line.
    package mutating func notSent(_ ticket: Ticket, by index: InterfaceIndex) {
        if watches[index]?.outstanding?.ticket == ticket { watches[index]?.outstanding = nil }
    }

    package mutating func counted(_ segments: [SegmentCount], by index: InterfaceIndex) {
        watches[index]?.meter.count(segments)
    }
}

extension QualityMachine.Watch {
    /// Handles that a witness did not answer. One that never has may not answer anybody.
    fileprivate mutating func miss(_ witness: IPAddress) -> [QualityCommand] {
        guard answers[witness] != nil else {
            tries[witness, default: 0] += 1
            return []
        }
        meter.lost(to: witness)
        missing += 1
        return missing == QualityMachine.missingAnswers ? [.doubt] : []
    }

    /// The witness of the next request: the first two that answer, in turn.
    fileprivate mutating func nextWitness() -> IPAddress? {
        let asked = path.witnesses.filter { tries[$0, default: 0] < QualityMachine.mostTries }
            .prefix(QualityMachine.witnessCount)
        guard !asked.isEmpty else { return nil }
        turn += 1
        return asked[asked.startIndex + turn % asked.count]
    }
}
