internal import ReachCore

/// Judges from all that is known when a host was here, away, limited, gone on purpose, and when nobody can know.
///
/// What the server saw of connections comes first, then what the host says of the time between them, then what it says
/// of the Internet; the last word is that of ``RosterHost/presence(_:)``. That a connection begins proves nothing about
/// the time before, and the end of an old connection nothing about a host that has a newer one.
struct PresenceJudge {
    /// The longest time between two connections that counts as reconnecting, unless the host says that it was away.
    static let reconnecting = HostAbsence.least
    /// A server finds a dead connection within so much.
    static let staleness: Duration = .seconds(600)
    /// Within so much what a host says of its own path is the begin or the end of what the server saw, and exacter.
    private static let noticing: Duration = .seconds(60)

    private let record: PresenceRecord
    private let host: RosterHost
    private let engine: EngineFacts
    private let runs: ServerRuns
    private var line = PresenceLine()
    /// When the server first had something from the host.
    private var heard = Int64.min

    /// The intervals of a host, the earliest first, without gap; the last one is how it is now.
    static func intervals(
        _ record: PresenceRecord, _ host: RosterHost, _ engine: EngineFacts, _ runs: ServerRuns
    ) -> [PresenceInterval] {
        var judge = PresenceJudge(record: record, host: host, engine: engine, runs: runs)
        let presence = host.presence(engine)
        guard presence.word != .unseen else { return [PresenceInterval(.unknown)] }
        judge.drawConnections(presence)
        for report in record.reports { judge.draw(report) }
        judge.drawPresent(presence)
        let words = judge.ownWords()
        judge.draw(words)
        judge.trim(words)
        return judge.line.intervals
    }

    private init(record: PresenceRecord, host: RosterHost, engine: EngineFacts, runs: ServerRuns) {
        (self.record, self.host, self.engine, self.runs) = (record, host, engine, runs)
    }

    // MARK: - Connections

    private mutating func drawConnections(_ presence: HostPresence) {
        let list = connections(presence)
        var until: Int64?
        var ending = PresenceRecord.Connection.Ending.lost
        // Until when a server ran that never reported the end of a connection, as when it was killed: of two machines
        // with one identity the other's may have ended before.
        var open = Int64.min
        for (index, connection) in list.enumerated() {
            let start = connection.start.nanosecondsSince1970
            if let end = until, end < start {
                let isServers = open >= end && .nanoseconds(start - open) <= RosterHost.returning
                if !isServers { drawGap(end, start, ending) }
            } else if until == nil {
                line.append(.init(from: start, word: .here))
            }
            // One whose end nobody has reported lasted at most until the next began: its server ended, or reported
            // nothing.
            let next = index + 1 < list.count ? list[index + 1].start.nanosecondsSince1970 : .max
            let end = connection.end?.nanosecondsSince1970 ?? next
            if end >= until ?? .min { (until, ending) = (end, connection.ending) }
            if connection.end == nil, let last = runs.end(of: connection.server) {
                open = max(open, last.nanosecondsSince1970)
            }
        }
    }

    private mutating func drawGap(_ end: Int64, _ start: Int64, _ ending: PresenceRecord.Connection.Ending) {
        let length = Duration.nanoseconds(start - end)
        guard length > Self.reconnecting else { return }
        switch ending {
        case .shutdown where length <= RosterHost.returning: return
        case .shutdown: line.append(.init(from: end, word: .unknown))
        // An agent that was killed reports that only after a lease, and a goodbye always.
        case .closed where !HostAbsence.counts(length, lease: host.report?.lease ?? .zero): return
        case .closed: line.append(.init(from: end, word: .left, isSeen: true))
        case .lost: line.append(.init(from: end, word: .away, isSeen: true))
        }
        line.append(.init(from: start, word: .here))
    }

    /// All that are known, by their starts. Where the server reports none, the lease says since when the host is
    /// connected.
    private func connections(_ presence: HostPresence) -> [PresenceRecord.Connection] {
        var list = record.connections
        // The first reports that are known may be of the late ends of connections whose hosts had newer ones already.
        if list.contains(where: { !$0.isBeginKnown }), let first = runs.first {
            for index in list.indices where !list[index].isBeginKnown && list[index].ending == .lost {
                if let end = list[index].end, end < first + Self.staleness { list[index].end = nil }
            }
        }
        if let newest = host.connection, !list.contains(where: { $0.start == newest.start }) {
            list.append(
                .init(
                    start: newest.start, end: newest.isUp ? nil : newest.time,
                    ending: RosterHost.Connection.ending(newest.reason)))
        }
        if list.isEmpty, let lease = host.lease {
            list.append(.init(start: min(host.corrected(lease.since), lease.renewed), end: nil))
        }
        return list.sorted { $0.start < $1.start }
    }

    // MARK: - What the host reports of its absence

    private mutating func draw(_ report: PresenceRecord.Report) {
        let absence = report.absence
        guard var start = absence.start(until: report.end) else { return }
        var vagueness = absence.hadLeft ? .zero : absence.lease
        // The end of its connection shows by when it had gone, or even when: unless it came so late that the host may
        // have closed at its return what it had lost before.
        if let last = record.connections.filter({ $0.start <= start }).max(by: { $0.start < $1.start }),
            let end = last.end, last.ending != .shutdown, start <= end,
            end <= min(start + (vagueness + FleetMachine.patience), report.end)
        {
            vagueness = last.endShowsHost ? .zero : min(vagueness, start.duration(to: end))
            if last.endShowsHost { start = end }
        }
        guard HostAbsence.counts(start.duration(to: report.end), lease: vagueness) else { return }
        let isKnown = absence.isKnown || runs.cover(start, report.end, engine)
        let word: PresenceInterval.Word = absence.hadLeft ? .left : isKnown ? .away : .unknown
        line.replace(from: start.nanosecondsSince1970, to: report.end.nanosecondsSince1970) { piece in
            if word == .unknown, piece.isSeen { return piece }
            return .init(
                from: piece.from, word: word, isConfirmed: word != .unknown, vagueness: vagueness, isSeen: piece.isSeen)
        }
    }

    // MARK: - The present

    private mutating func drawPresent(_ presence: HostPresence) {
        let seen = presence.lastSeen?.nanosecondsSince1970
        switch presence.word {
        case .silent:
            guard host.countsFrom(presence).map({ $0 < engine.now }) ?? true else { return }
            let start = presence.since?.nanosecondsSince1970 ?? .min
            line.replace(from: start, to: .max) {
                .init(from: $0.from, word: .away, vagueness: host.vagueness, isSeen: true)
            }
        case .left:
            let start = presence.since?.nanosecondsSince1970 ?? seen ?? .min
            line.replace(from: start, to: .max) { .init(from: $0.from, word: .left, isConfirmed: true) }
        case .here, .limited:
            // It renews its lease now, whatever the connections that are known say.
            let start = line.pieces.last.map { $0.word == .here ? $0.from : max($0.from, seen ?? $0.from) } ?? .min
            let isUnknown = presence.reason == RosterHost.engineRestart
            line.replace(from: isUnknown ? seen ?? start : start, to: .max) {
                .init(from: $0.from, word: isUnknown ? .unknown : .here)
            }
        case .unseen: break
        }
    }

    // MARK: - What the host says of the Internet

    /// The host's words in their order, with that of its state.
    private func ownWords() -> [PresenceRecord.OwnWord] {
        var words = record.words.sorted { $0.time < $1.time }
        guard let report = host.report, let internet = report.internet,
            let state = PresenceRecord.OwnWord.State(internet.status, internet.connectivity)
        else { return words }
        let since = min(internet.since.map(host.corrected) ?? report.stored, report.stored)
        guard let last = words.last else {
            return [.init(time: since, state: state, reason: internet.reason, previous: nil)]
        }
        if state != last.state, report.stored > last.time {
            let time = since > last.time ? since : report.stored
            words.append(.init(time: time, state: state, reason: internet.reason, previous: nil))
        }
        return words
    }

    private mutating func draw(_ words: [PresenceRecord.OwnWord]) {
        if let first = line.pieces.first, first.word == .unknown { heard = line.end(of: 0) }
        if let first = words.first, let previous = first.previous {
            draw(previous, nil, from: .min, to: first.time.nanosecondsSince1970)
        }
        for (index, word) in words.enumerated() {
            let end = index + 1 < words.count ? words[index + 1].time.nanosecondsSince1970 : .max
            draw(word.state, word.reason, from: word.time.nanosecondsSince1970, to: end)
        }
    }

    private mutating func draw(_ state: PresenceRecord.OwnWord.State, _ reason: Reason?, from: Int64, to: Int64) {
        let heard = heard
        line.replace(from: from, to: to) { piece in
            switch (state, piece.word) {
            // Before the first connection that is known the host's own word is all that there is.
            case (.here, .unknown):
                piece.from < heard ? .init(from: piece.from, word: .here, isConfirmed: true) : piece
            case (.here, _): piece
            case (_, .left) where piece.isConfirmed: piece
            case (_, .here), (_, .limited):
                .init(from: piece.from, word: .limited, isConfirmed: true, reason: reason)
            default: .init(from: piece.from, word: .away, isConfirmed: true, reason: reason)
            }
        }
    }

    /// Where the host says when it lost its path and when it came back, what the server saw shortly before and after it
    /// is no absence of its own: the host still had its path, or had it again.
    private mutating func trim(_ words: [PresenceRecord.OwnWord]) {
        let bad = words.enumerated().filter { $0.element.state != .here }
        for (index, word) in bad {
            let begin = word.time.nanosecondsSince1970
            let isNew = index == 0 ? word.previous == .here : words[index - 1].state == .here
            if isNew { trim(before: begin) }
            if index + 1 < words.count, words[index + 1].state == .here {
                trim(after: words[index + 1].time.nanosecondsSince1970)
            }
        }
    }

    private mutating func trim(before time: Int64) {
        guard let index = line.index(from: time), index > 0 else { return }
        let piece = line.pieces[index - 1]
        guard piece.word == .away || piece.word == .left, piece.from != .min, piece.reason == nil else { return }
        guard .nanoseconds(time - piece.from) <= Self.noticing + piece.vagueness else { return }
        line.replace(from: piece.from, to: time) { .init(from: $0.from, word: .here) }
    }

    private mutating func trim(after time: Int64) {
        guard let index = line.index(from: time) else { return }
        let (piece, end) = (line.pieces[index], line.end(of: index))
        guard piece.word == .away || piece.word == .left, end != .max, piece.reason == nil else { return }
        guard .nanoseconds(end - time) <= Self.noticing else { return }
        line.replace(from: time, to: end) { .init(from: $0.from, word: .here) }
    }
}
