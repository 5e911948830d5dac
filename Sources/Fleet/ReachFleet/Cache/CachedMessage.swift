package import ReachCore

/// What a reader takes from a message of a stream. It is the same whether the server or a cache has it.
package protocol CachedMessage: Hashable, Sendable {
    /// A value without content, to read into.
    init()

    /// The key of a bucket's entry, of which the newest counts.
    var key: String { get }

    mutating func code(_ coder: inout CacheCoder) throws(CacheFault)
}

/// An entry of the bucket ``HostList/bucket``.
package struct ListedHost: CachedMessage {
    package private(set) var key = ""
    /// `nil` if it was deleted, or cannot be read.
    package private(set) var entry: HostList.Entry?

    package init() {}

    package init(_ key: String, _ value: [UInt8]?) {
        self.key = key
        entry = value.flatMap { HostList.entry(key, $0) }
    }

    package mutating func code(_ coder: inout CacheCoder) throws(CacheFault) {
        try coder.code(&key)
        let host = key
        try coder.code(&entry, HostList.Entry(host: host, key: "")) { coder, entry throws(CacheFault) in
            var (key, otherKey, groups, labels) = (entry.key, entry.otherKey, entry.groups, entry.labels)
            var (ticketKey, issued, expires) = (entry.ticket?.key, entry.ticket?.issued, entry.expires)
            try coder.code(&key)
            try coder.code(&otherKey)
            try coder.code(&groups)
            try coder.code(&labels)
            try coder.code(&ticketKey)
            try coder.code(&issued)
            try coder.code(&expires)
            var ticket: HostList.Ticket?
            if let ticketKey, let issued { ticket = HostList.Ticket(key: ticketKey, issued: issued) }
            entry = HostList.Entry(
                host: host, key: key, otherKey: otherKey, groups: groups, labels: labels, ticket: ticket,
                expires: expires)
        }
    }
}

/// An entry of the bucket ``FleetNames/state``.
package struct ReportedState: CachedMessage {
    package private(set) var key = ""
    /// `nil` if it was deleted, or cannot be read.
    private(set) var report: RosterHost.Report?
    /// Why it cannot be read.
    private(set) var fault: String?

    package init() {}

    package init(_ host: String, _ value: [UInt8]?, storedAt time: Timestamp) {
        key = host
        guard let value else { return }
        do throws(WireError) {
            report = RosterHost.Report(try HostState(value), stored: time)
        } catch {
            fault = "state of \(host): \(error)"
        }
    }

    package mutating func code(_ coder: inout CacheCoder) throws(CacheFault) {
        try coder.code(&key)
        try coder.code(&fault)
        try coder.code(&report, RosterHost.Report.blank) { coder, report throws(CacheFault) in
            try report.code(&coder)
        }
    }
}

extension RosterHost.Report {
    fileprivate static let blank: RosterHost.Report = {
        let never = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0))
        let state = HostState(host: "", version: "", written: never, boot: "", lease: .zero)
        return RosterHost.Report(state, stored: never.wall)
    }()

    fileprivate mutating func code(_ coder: inout CacheCoder) throws(CacheFault) {
        try coder.code(&name)
        try coder.code(&labels)
        try coder.code(&groups)
        try coder.code(&accepts)
        try coder.code(&version)
        try codeInternet(&coder)
        try coder.code(&left)
        try coder.code(&down)
        try coder.code(&queueHolds)
        try coder.code(&queueWaiting)
        try coder.code(&behind)
        try coder.code(&dropped)
        try coder.code(&desired)
        try coder.code(&lease)
        try coder.code(&hasConflict)
        try coder.code(&written)
        try coder.code(&stored)
    }

    /// Without a status the rest is there, too, and says nothing.
    private mutating func codeInternet(_ coder: inout CacheCoder) throws(CacheFault) {
        var (status, found) = (internet?.status, internet ?? RosterHost.Internet(HostStatus(.unknown)))
        try coder.code(&status, .unknown)
        try coder.code(&found.reason, .noRoute)
        try coder.code(&found.rootCause, RootCause(.noLinks)) { coder, cause throws(CacheFault) in
            var (kind, interface) = (cause.kind, cause.interface)
            try coder.code(&kind)
            try coder.code(&interface)
            cause = RootCause(kind, interface: interface)
        }
        try coder.code(&found.connectivity)
        try coder.code(&found.connectivityReason, .noRoute)
        try coder.code(&found.linkClass, .other)
        try coder.code(&found.gateway)
        var (address, length) = (found.source?.address, Int64(found.source?.length ?? 0))
        try coder.code(&address)
        try coder.code(&length)
        found.source = address.flatMap { IPPrefix($0, length: Int(clamping: length)) }
        try coder.code(&found.since)
        if let status { found.status = status }
        internet = status.map { _ in found }
    }
}

/// A message of the stream ``FleetNames/connections``.
package struct ReportedConnection: CachedMessage {
    /// `nil` if it cannot be read.
    package private(set) var advisory: ConnectionAdvisory?
    private(set) var fault: String?

    package init() {}

    package init(_ value: [UInt8]) {
        do throws(WireError) {
            advisory = try ConnectionAdvisory(value)
        } catch {
            fault = "report of a connection: \(error)"
        }
    }

    package var key: String { "" }

    package mutating func code(_ coder: inout CacheCoder) throws(CacheFault) {
        try coder.code(&fault)
        let blank = ConnectionAdvisory(
            isUp: false, time: Timestamp(nanosecondsSince1970: 0), start: Timestamp(nanosecondsSince1970: 0), user: "")
        try coder.code(&advisory, blank) { coder, advisory throws(CacheFault) in
            var (isUp, time, start, user) = (advisory.isUp, advisory.time, advisory.start, advisory.user)
            var (account, address) = (advisory.account, advisory.address)
            var (reason, server) = (advisory.reason, advisory.server)
            try coder.code(&isUp)
            try coder.code(&time)
            try coder.code(&start)
            try coder.code(&user)
            try coder.code(&account)
            try coder.code(&address)
            try coder.code(&reason)
            try coder.code(&server)
            advisory = ConnectionAdvisory(
                isUp: isUp, time: time, start: start, user: user, account: account, address: address, reason: reason,
                server: server)
        }
    }
}

/// A message of the stream ``FleetNames/events``, as those need it who look at presence alone.
package struct HostEvents: CachedMessage {
    /// Whose they are.
    package private(set) var host = ""
    private(set) var events: [PastEvent] = []
    /// What could not be read of it.
    private(set) var damaged = 0

    package init() {}

    package init(subject: String, headers: [HeaderField], payload: [UInt8], storedAt time: Timestamp) {
        guard let (host, chunk) = EventChunk.read(subject, headers, payload) else {
            damaged = 1
            return
        }
        let (events, unreadable) = chunk.events()
        self.host = host
        damaged = unreadable
        self.events = events.map { PastEvent($0, chunk.time(of: $0, storedAt: time)) }
    }

    package var key: String { "" }

    package mutating func code(_ coder: inout CacheCoder) throws(CacheFault) {
        try coder.code(&host)
        var number = Int64(damaged)
        try coder.code(&number)
        damaged = Int(clamping: number)
        try coder.code(&events, PastEvent()) { coder, event throws(CacheFault) in try event.code(&coder) }
    }
}
