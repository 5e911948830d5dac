package import ReachCore

/// Decides how a host obeys the operator's documents: events in, actions out. It does no I/O and reads no clock.
///
/// All documents that concern the host are read after each connection and after each announcement, since a host that
/// was away must converge. The most specific one counts. What the daemon has confirmed is reported by the newest
/// revision that was read with it.
package struct DesiredMachine: Sendable {
    /// What happened.
    package enum Input: Hashable, Sendable {
        case connected
        case disconnected
        /// Somebody wrote this value for one of ``keys``. The server may store it a moment later.
        case announced([UInt8])
        /// The answer to ``Action/read(_:)``: what is stored under each of ``keys``; `nil` if that could not be read.
        case read(UInt64, [Document]?)
        /// The daemon answers for the first time, or again. It may have missed an order.
        case daemonReturned
        /// Whether the daemon has done what the last ``Action/apply(_:)`` wants.
        case applied(Bool)
        /// ``DesiredMachine/deadline`` has come.
        case tick
    }

    /// What to do, in this order.
    package enum Action: Hashable, Sendable {
        /// Read all keys. The number comes back with the answer.
        case read(UInt64)
        case apply(Order)
        /// The host has applied everything up to this revision.
        case report(UInt64)
    }

    /// What a key holds.
    package struct Document: Hashable, Sendable {
        /// 0 if the key was never written.
        package var revision: UInt64
        /// Empty if the key was deleted or never written.
        package var value: [UInt8]

        package init(revision: UInt64 = 0, value: [UInt8] = []) {
            self.revision = revision
            self.value = value
        }
    }

    /// What the daemon does with its queue.
    package struct Order: Hashable, Sendable {
        package var isHeld: Bool
        /// Why, for people.
        package var reason: String?

        package init(isHeld: Bool, reason: String? = nil) {
            self.isHeld = isHeld
            self.reason = reason
        }
    }

    /// How long after an announcement the keys are read, so that many cost one reading.
    static let settling: Duration = .milliseconds(100)
    /// How often they are read again until an announced value is there.
    static let rereads = 6

    package let host: String
    /// The keys of documents that concern the host, the most specific first.
    package let keys: [String]
    /// What the daemon has confirmed.
    package private(set) var applied: Order?

    private var isConnected = false
    private var documents: [Document]?
    private var number: UInt64 = 0
    private var readingSince: BootTime?
    private var readDue: BootTime?
    private var awaited: [UInt8]?
    private var tries = 0
    private var pauses = Backoff(first: .seconds(1), longest: .seconds(300))
    private var applying: Order?
    private var retryDue: BootTime?
    private var retries = Backoff(first: .seconds(1), longest: .seconds(300))
    private var reported: UInt64?
    /// When the order may change because a document's validity ends.
    private var orderEnds: BootTime?

    package init(host: String, groups: [String]) {
        self.host = host
        keys = DesiredState.keys(host: host, groups: groups)
    }

    package mutating func handle(_ input: Input, at now: Instant) -> [Action] {
        var actions: [Action] = []
        switch input {
        case .connected: (isConnected, readDue) = (true, now.boot)
        case .disconnected: (isConnected, readDue, readingSince, awaited) = (false, nil, nil, nil)
        case .announced(let value):
            (awaited, tries) = (value, 0)
            readDue = now.boot + Self.settling
        case .read(number, let documents): finishReading(documents, now)
        case .read: break
        case .daemonReturned: (applied, applying, retryDue) = (nil, nil, nil)
        case .applied(let isDone): finishApplying(isDone, now)
        case .tick: break
        }
        read(now, &actions)
        decide(now, &actions)
        return actions
    }

    /// When ``Input/tick`` is due; `nil` if nothing is.
    package var deadline: BootTime? {
        [readingSince.map { $0 + FleetMachine.patience } ?? readDue, retryDue, orderEnds].compactMap(\.self).min()
    }

    // MARK: - Reading

    private mutating func read(_ now: Instant, _ actions: inout [Action]) {
        if let since = readingSince, since + FleetMachine.patience <= now.boot { fail(now) }
        guard isConnected, readingSince == nil, let due = readDue, due <= now.boot else { return }
        number += 1
        (readingSince, readDue) = (now.boot, nil)
        actions.append(.read(number))
    }

    private mutating func fail(_ now: Instant) {
        readingSince = nil
        readDue = now.boot + pauses.wait()
    }

    private mutating func finishReading(_ documents: [Document]?, _ now: Instant) {
        guard readingSince != nil else { return }
        guard let documents, documents.count == keys.count else { return fail(now) }
        readingSince = nil
        pauses.reset()
        self.documents = documents
        guard let awaited, !documents.contains(where: { $0.value == awaited }), tries < Self.rereads else {
            return awaited = nil
        }
        tries += 1
        let again = now.boot + .milliseconds(200) * (1 << tries)
        readDue = min(readDue ?? again, again)
    }

    // MARK: - Applying

    /// What the documents want of the host now, and when that may change by itself.
    package static func order(
        of documents: [Document], host: String, at time: Timestamp
    ) -> (order: Order, ends: Timestamp?) {
        for document in documents {
            guard !document.value.isEmpty, let state = try? DesiredState(document.value), !state.isOver(at: time),
                state.includes(host: host)
            else { continue }
            return (Order(isHeld: state.queue == .held, reason: state.queue == .held ? state.reason : nil), state.until)
        }
        return (Order(isHeld: false), nil)
    }

    /// The newest revision that the order rests on. A document that this version does not understand is not applied.
    private static func revision(of documents: [Document]) -> UInt64 {
        documents.filter { $0.value.isEmpty || (try? DesiredState($0.value)) != nil }.map(\.revision).max() ?? 0
    }

    private mutating func decide(_ now: Instant, _ actions: inout [Action]) {
        guard let documents else { return }
        let (order, ends) = Self.order(of: documents, host: host, at: now.wall)
        orderEnds = ends.map {
            now.boot + .nanoseconds(max(0, $0.nanosecondsSince1970 - now.wall.nanosecondsSince1970))
        }
        if let due = retryDue, due <= now.boot { retryDue = nil }
        guard order == applied else {
            guard applying == nil, retryDue == nil else { return }
            applying = order
            return actions.append(.apply(order))
        }
        let revision = Self.revision(of: documents)
        guard revision != reported else { return }
        reported = revision
        actions.append(.report(revision))
    }

    private mutating func finishApplying(_ isDone: Bool, _ now: Instant) {
        guard let order = applying else { return }
        applying = nil
        if isDone {
            applied = order
            retries.reset()
        } else {
            retryDue = now.boot + retries.wait()
        }
    }
}
