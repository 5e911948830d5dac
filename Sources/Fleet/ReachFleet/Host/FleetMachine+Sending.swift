internal import ReachCore

/// The last message of the host's own subject.
struct Tail: Hashable, Sendable {
    var sequence: UInt64
    var chunk: EventChunk
    /// Its last line's event, to compare with the journal's.
    var event: HostAbsence.Event?
    /// Whether the journal was asked with a cursor beyond its end, so that it begins another log.
    var isForking = false
}

extension FleetMachine {
    /// Reads, compares and sends, one step: at most one request is under way.
    mutating func advance(_ now: Instant, _ actions: inout [Action]) {
        switch work {
        case .idle: sendNext(now, &actions)
        case .sending(_, let since) where since + Self.patience <= now.boot:
            // It may have arrived. The tail says.
            unanswered += 1
            if unanswered >= Self.patienceWithStore { trouble = .notStored }
            readTail(expected: nil, tries: 0, now, &actions)
        case .readingMark(_, let since) where since + Self.patience <= now.boot: pause(.noStream, now)
        case .readingTail(_, _, let since) where since + Self.patience <= now.boot:
            pause(.noStream, now)
        case .pausing(let until, let expected, let tries) where until <= now.boot:
            readTail(expected: expected, tries: tries, now, &actions)
        default: break
        }
    }

    mutating func readTail(expected: UInt64?, tries: Int, _ now: Instant, _ actions: inout [Action]) {
        request += 1
        work = .readingTail(expected: expected, tries: tries, since: now.boot)
        actions.append(.readTail(request))
    }

    mutating func pause(_ word: FleetWord, _ now: Instant) {
        trouble = word
        let wait =
            switch word {
            case .conflict: Self.conflictPause
            case .refused: delay.afterRefusal()
            default: pauses.wait()
            }
        if word == .conflict { adoptsTail = true }
        work = .pausing(until: now.boot + wait, expected: nil, tries: 0)
    }

    // MARK: - The tail

    mutating func handleTail(_ answer: TailAnswer, _ now: Instant, _ actions: inout [Action]) {
        guard case .readingTail(let expected, let tries, _) = work else { return }
        let sequence: UInt64
        switch answer {
        case .refused: return pause(.refused, now)
        case .unavailable: return pause(.noStream, now)
        case .none: sequence = 0
        case .message(let number, _), .foreign(let number): sequence = number
        }
        if let expected, sequence < expected, tries < 8 {
            // A replica that is late. The append would be refused again, but each refusal costs the leader a write.
            work = .pausing(
                until: now.boot + .milliseconds(100) * (1 << min(tries, 5)), expected: expected, tries: tries + 1)
            return
        }
        if trouble == .noStream || trouble == .refused { trouble = nil }
        switch answer {
        // An earlier agent's mark is a message of a subject that has no event.
        case .message(_, let chunk) where chunk.mark == nil || !chunk.lines.isEmpty:
            adopt(sequence, chunk, now, &actions)
        case .foreign: adoptForeign(sequence, now, &actions)
        default: adoptEmpty(sequence, now, &actions)
        }
    }

    /// The engine has no event of this host.
    private mutating func adoptEmpty(_ sequence: UInt64, _ now: Instant, _ actions: inout [Action]) {
        unconfirmed = []
        guard acknowledged != nil else { return open(after: nil, tail: sequence, &actions) }
        // It dropped what was old, or it is another engine or an older one, which lacks something. Sequence numbers do
        // not say: they are those of all hosts, and others may have come back first. The host's own state does, since
        // the engine keeps it however old it is, and it was written after the events that it includes.
        request += 1
        work = .readingMark(tail: sequence, since: now.boot)
        actions.append(.readMark(request))
    }

    mutating func handleMark(_ answer: MarkAnswer, _ now: Instant, _ actions: inout [Action]) {
        guard case .readingMark(let sequence, _) = work else { return }
        switch answer {
        case .unavailable: pause(.noStream, now)
        case .had(let mark) where mark.log == acknowledged?.log:
            let cursor = JournalCursor(log: mark.log, n: min(mark.n, acknowledged?.n ?? 0))
            remember(cursor, sequence, &actions)
            open(after: cursor, tail: sequence, &actions)
        case .had, .none:
            acknowledged = nil
            open(after: nil, tail: sequence, &actions)
        }
    }

    private mutating func adopt(
        _ sequence: UInt64, _ chunk: EventChunk, _ now: Instant, _ actions: inout [Action]
    ) {
        if unconfirmed.contains(chunk) {
            figures.duplicates += 1
            tail = sequence
            return acknowledge(chunk, sequence, &actions)
        }
        // Behind another run's absence, that arrived late in a restored engine, events may be missing.
        if sequence == tail, chunk.mark == nil || (chunk.log, chunk.last) == (resume?.log ?? Self.noLog, resume?.n ?? 0)
        {
            unconfirmed = []
            (work, knowsTail) = (.idle, true)
            return hasJournal ? () : openJournal(resume, &actions)
        }
        // An absence of a time before the first event.
        if chunk.log == Self.noLog, chunk.mark != nil { return adoptEmpty(sequence, now, &actions) }
        guard !adoptsTail else {
            return fork(
                Tail(sequence: sequence, chunk: chunk), from: acknowledged?.log ?? newest?.log ?? chunk.log, &actions)
        }
        verify(sequence, chunk, &actions)
    }

    /// The last message of the subject is not the one that this run knows: an earlier run's, a restored engine's, or
    /// another machine's. If the journal has the same event under the same number, the engine has what the chunk
    /// covers.
    private mutating func verify(_ sequence: UInt64, _ chunk: EventChunk, _ actions: inout [Action]) {
        var found = Tail(sequence: sequence, chunk: chunk)
        found.event = chunk.lastEvent
        work = .verifying(found)
        let before = found.event.map { $0.n - 1 } ?? chunk.last
        openJournal(JournalCursor(log: chunk.log, n: before), &actions)
    }

    private mutating func adoptForeign(_ sequence: UInt64, _ now: Instant, _ actions: inout [Action]) {
        guard tail == nil || adoptsTail else { return pause(.conflict, now) }
        adoptsTail = false
        open(after: acknowledged.map { JournalCursor(log: $0.log, n: $0.n) }, tail: sequence, &actions)
    }

    // MARK: - The journal

    private mutating func open(after cursor: JournalCursor?, tail sequence: UInt64, _ actions: inout [Action]) {
        (tail, resume) = (sequence, cursor)
        (work, knowsTail) = (.idle, true)
        lastEvent = nil
        openJournal(cursor, &actions)
    }

    /// Continues with the log that begins with these entries, of which the engine has nothing.
    private mutating func begin(_ slice: EntryPage, tail sequence: UInt64) {
        unconfirmed = []
        lastEvent = nil
        tail = sequence
        resume = slice.entries.first.map { JournalCursor(log: $0.log, n: $0.isLogStart ? $0.n : $0.first - 1) }
        (work, knowsTail) = (.idle, true)
        queue.restart(after: resume)
        queue.append(slice.entries)
    }

    private mutating func openJournal(_ cursor: JournalCursor?, _ actions: inout [Action]) {
        queue.restart(after: cursor)
        (hasJournal, isJournalComplete) = (true, false)
        actions.append(.openJournal(after: cursor))
    }

    /// Asks the journal for another log, since another machine may have taken the numbers of this one. What waited in
    /// this one stays on the host.
    private mutating func fork(_ found: Tail, from log: String, _ actions: inout [Action]) {
        adoptsTail = false
        var found = found
        found.isForking = true
        work = .verifying(found)
        openJournal(.beyond(log), &actions)
    }

    mutating func handleJournal(_ slice: EntryPage, _ now: Instant, _ actions: inout [Action]) {
        newest = slice.newest
        isJournalComplete = slice.isComplete
        guard hasJournal else { return }
        figures.dropped += slice.entries.reduce(0) { $1.gap == "expired" ? $0 + $1.n - $1.first + 1 : $0 }
        guard case .verifying(let found) = work else { return queue.append(slice.entries) }
        guard let first = slice.entries.first else { return handleNothing(found, slice, now, &actions) }
        if first.log != found.chunk.log {
            return handleUnknownLog(found, slice, now, &actions)
        }
        if let event = found.event, first.n == event.n, first.gap == nil {
            guard first.moment == event.moment else {
                // The same number, another event.
                return tail == nil ? fork(found, from: first.log, &actions) : pause(.conflict, now)
            }
        }
        accept(found, slice, &actions)
    }

    /// The engine has what the found chunk covers.
    private mutating func accept(_ found: Tail, _ slice: EntryPage, _ actions: inout [Action]) {
        let cursor = JournalCursor(log: found.chunk.log, n: found.chunk.last)
        unconfirmed = []
        lastEvent = .some(found.event)
        tail = found.sequence
        remember(cursor, found.sequence, &actions)
        (work, knowsTail) = (.idle, true)
        queue.restart(after: cursor)
        queue.append(slice.entries)
    }

    private mutating func handleUnknownLog(
        _ found: Tail, _ slice: EntryPage, _ now: Instant, _ actions: inout [Action]
    ) {
        if tail == nil, !found.isForking, let acknowledged, acknowledged.log != found.chunk.log,
            acknowledged.sequence == found.sequence
        {
            // An earlier run began a log behind another machine's message, and the engine has nothing of it yet.
            let cursor = JournalCursor(log: acknowledged.log, n: acknowledged.n)
            return open(after: cursor, tail: found.sequence, &actions)
        }
        let sequence = [tail, acknowledged?.sequence].compactMap(\.self).max()
        let isNewer = sequence.map { found.sequence > $0 } ?? false
        if isNewer, !found.isForking, tail != nil { return pause(.conflict, now) }
        if isNewer, !found.isForking, let acknowledged, acknowledged.log != found.chunk.log {
            // Another machine wrote while this one was away.
            return fork(found, from: acknowledged.log, &actions)
        }
        // The tail's log has ended here, or this journal never had it: everything kept is news to the engine.
        begin(slice, tail: found.sequence)
    }

    private mutating func handleNothing(
        _ found: Tail, _ slice: EntryPage, _ now: Instant, _ actions: inout [Action]
    ) {
        guard slice.isComplete else { return }
        if slice.newest.log != found.chunk.log {
            // Another log has begun, and is empty so far.
            begin(slice, tail: found.sequence)
        } else if slice.newest.n < found.event?.n ?? found.chunk.last {
            guard !found.isForking else { return pause(.conflict, now) }
            fork(found, from: found.chunk.log, &actions)
        } else {
            accept(found, slice, &actions)
        }
    }

    // MARK: - Sending

    private mutating func sendNext(_ now: Instant, _ actions: inout [Action]) {
        guard tail != nil else { return readTail(expected: nil, tries: 0, now, &actions) }
        if !hasJournal { return openJournal(resume, &actions) }
        if sendAbsence(now, &actions) { return }
        guard !holdsEvents, presence.allowsEvents(behind: behind) else { return }
        guard let next = queue.chunk(payloadLimit: server.payloadLimit / 2) else { return }
        let chunk = EventChunk(
            log: next.log, first: next.first, last: next.last, boot: settings.boot, eventBoot: next.boot, sent: now,
            lines: next.lines)
        if acknowledged?.log != chunk.log {
            // So that a later run knows that this log has begun, should another machine write meanwhile.
            remember(JournalCursor(log: chunk.log, n: chunk.first - 1), tail ?? 0, &actions)
        }
        publish(chunk, now, &actions)
    }

    mutating func publish(_ chunk: EventChunk, _ now: Instant, _ actions: inout [Action]) {
        request += 1
        work = .sending(chunk, since: now.boot)
        unconfirmed.append(chunk)
        if unconfirmed.count > 16 { unconfirmed.removeFirst() }
        actions.append(.publish(request, chunk, expecting: tail ?? 0))
    }

    mutating func handlePublished(_ answer: PublishAnswer, _ now: Instant, _ actions: inout [Action]) {
        guard case .sending(let chunk, let since) = work else { return }
        unanswered = 0
        if trouble == .notStored { trouble = nil }
        switch answer {
        case .stored(let sequence, isDuplicate: false):
            tail = sequence
            presence.noteWord(now, lease: period)
            acknowledge(chunk, sequence, isFast: now.boot - since < Self.fastAnswer, &actions)
        case .stored: readTail(expected: nil, tries: 0, now, &actions)
        case .wrongTail(let last): readTail(expected: last, tries: 0, now, &actions)
        case .tooLarge where chunk.mark != nil:
            presence.absences.removeFirst()
            work = .idle
        case .tooLarge:
            unconfirmed.removeLast()
            queue.shrink(chunk.lines.reduce(0) { $0 + $1.count + 1 })
            work = .idle
        case .full: pause(.full, now)
        case .refused: pause(.refused, now)
        case .unavailable: pause(.noStream, now)
        }
    }

    /// - Parameter chunk: Stored, as the engine or its tail says.
    private mutating func acknowledge(
        _ chunk: EventChunk, _ sequence: UInt64, isFast: Bool = false, _ actions: inout [Action]
    ) {
        unconfirmed = []
        trouble = nil
        adoptsTail = false
        pauses.reset()
        if chunk.mark == nil {
            figures.acknowledged += UInt64(chunk.lines.count)
            queue.acknowledge(chunk.log, through: chunk.last, isFast: isFast)
            lastEvent = .some(chunk.lastEvent)
            remember(JournalCursor(log: chunk.log, n: chunk.last), sequence, &actions)
        } else {
            presence.absences.removeFirst()
            // Nothing of the journal is sent by it; only the place of the subject's last message is another.
            if let known = acknowledged {
                remember(JournalCursor(log: known.log, n: known.n), sequence, &actions)
            }
        }
        (work, knowsTail) = (.idle, true)
        if !hasJournal { openJournal(resume, &actions) }
    }

    private mutating func remember(_ cursor: JournalCursor, _ sequence: UInt64, _ actions: inout [Action]) {
        let memory = FleetMemory(host: settings.host, log: cursor.log, n: cursor.n, sequence: sequence)
        resume = cursor
        guard memory != acknowledged else { return }
        acknowledged = memory
        actions.append(.remember(memory))
    }
}
