package import ReachCore

/// The fleet's hosts: what the engine's buckets and streams hold about each, joined.
///
/// Values come from hosts, so nothing in them is trusted: the key of an entry says which host it is, and what cannot be
/// read is counted and skipped. Entries may come in any order and repeatedly.
package struct Roster: Sendable {
    /// The most hosts. A key of more hosts than that fills the reader's memory.
    package static let hostLimit = 1_000_000

    /// Those that are not retired.
    package private(set) var hosts: [RosterHost] = []
    private var retiredHosts: [String: RosterHost] = [:]
    private var indices: [String: Int] = [:]
    private var hostsByKey: [String: String] = [:]
    /// Entries and messages that could not be read, and the last one's reason.
    package private(set) var damaged = 0
    /// When the servers reported connections, of whoever that was.
    private var runs = ServerRuns()
    package private(set) var lastDamage: String?

    package init() {}

    /// A host, retired or not.
    package subscript(id: String) -> RosterHost? { indices[id].map { hosts[$0] } ?? retiredHosts[id] }

    /// Retired hosts, in the order of their identities.
    package var retired: [RosterHost] { retiredHosts.values.sorted { $0.id < $1.id } }

    /// The host to which the operator gave a key.
    package func host(withKey key: String) -> String? { hostsByKey[key] }

    /// The latest word of any host before a time, as far as nothing newer took its place, or of a server.
    package func lastWord(before time: Timestamp) -> Timestamp? {
        let word = hosts.lazy.flatMap {
            [$0.lease?.renewed, $0.report?.stored, $0.connection?.time].compactMap(\.self)
        }
        .filter { $0 < time }.max()
        return [word, runs.last(before: time)].compactMap(\.self).max()
    }

    // MARK: - Feeding it

    /// A host that the operator lists, with the public half of its key.
    package mutating func apply(listed host: String, key: String?) {
        apply(listed: host, key.map { HostList.Entry(host: host, key: $0) })
    }

    /// What the list of hosts says of a host; `nil` if it is no longer listed.
    package mutating func apply(listed host: String, _ entry: HostList.Entry?) {
        for key in [self[host]?.key, self[host]?.otherKey].compactMap(\.self) where hostsByKey[key] == host {
            hostsByKey[key] = nil
        }
        update(host) {
            ($0.key, $0.otherKey) = (entry?.key, entry?.otherKey)
            ($0.listedLabels, $0.listedGroups) = (entry?.labels ?? [:], entry?.groups ?? [])
            $0.tokenEnd = entry?.expires
        }
        guard self[host] != nil else { return }
        for key in entry?.keys ?? [] { hostsByKey[key] = host }
    }

    /// What the operator noted about a host; `nil` if that was deleted.
    package mutating func apply(note value: [UInt8]?, of host: String) {
        var note = HostNote()
        do throws(WireError) {
            if let value { note = try HostNote(value) }
        } catch {
            return self.note("note about \(host): \(error)")
        }
        if !note.isEmpty || self[host] != nil {
            update(host) { ($0.notedLabels, $0.retired) = (note.labels, note.retired) }
        }
        move(host)
    }

    /// Takes a host that is retired now out of those that are shown, and back.
    private mutating func move(_ id: String) {
        if let index = indices[id], hosts[index].retired != nil {
            retiredHosts[id] = hosts[index]
            indices[id] = nil
            let last = hosts.removeLast()
            guard last.id != id else { return }
            hosts[index] = last
            indices[last.id] = index
        } else if let host = retiredHosts[id], host.retired == nil {
            retiredHosts[id] = nil
            indices[id] = hosts.count
            hosts.append(host)
        }
    }

    /// An entry of the bucket ``FleetNames/state``; `nil` if it was deleted.
    package mutating func apply(state value: [UInt8]?, of host: String, storedAt time: Timestamp) {
        apply(ReportedState(host, value, storedAt: time))
    }

    package mutating func apply(_ state: ReportedState) {
        if let fault = state.fault { return note(fault) }
        update(state.key) { $0.report = state.report }
    }

    /// An entry of the bucket ``FleetNames/lease``; `nil` if it was deleted or its time was over.
    ///
    /// - Parameter isExpired: Whether the engine itself ended it.
    package mutating func apply(
        lease value: [UInt8]?, of host: String, storedAt time: Timestamp, isExpired: Bool = false
    ) {
        guard let value else {
            return update(host) {
                $0.leaseEnded = time
                $0.leaseIsExpired = isExpired
                // A reader that saw the renewals keeps the last one, to say when the host was seen.
            }
        }
        do throws(WireError) {
            let lease = try HostLease(value)
            update(host) {
                $0.lease = RosterHost.Lease(
                    renewed: time, since: lease.since, behind: lease.behind, boot: lease.boot)
                $0.leaseEnded = nil
            }
        } catch {
            note("lease of \(host): \(error)")
        }
    }

    /// A message of the stream ``FleetNames/connections``. Those of keys that are not listed are skipped.
    ///
    /// - Returns: The host that it is about.
    @discardableResult
    package mutating func apply(advisory value: [UInt8]) -> String? {
        apply(ReportedConnection(value))
    }

    @discardableResult
    package mutating func apply(_ connection: ReportedConnection) -> String? {
        if let fault = connection.fault { note(fault) }
        return connection.advisory.flatMap { apply($0) }
    }

    @discardableResult
    package mutating func apply(_ advisory: ConnectionAdvisory) -> String? {
        if let server = advisory.server { runs.note(server, at: advisory.time) }
        guard let id = hostsByKey[advisory.user] else { return nil }
        update(id) {
            // The end of an earlier connection, after the next began, says nothing.
            if let known = $0.connection, advisory.start < known.start { return }
            $0.connection = RosterHost.Connection(
                isUp: advisory.isUp, time: advisory.time, start: advisory.start, address: advisory.address,
                reason: advisory.reason)
        }
        return id
    }

    private mutating func update(_ host: String, _ change: (inout RosterHost) -> Void) {
        guard FleetNames.hostIsValid(host) else { return note("a key that is not a host") }
        if let index = indices[host] { return change(&hosts[index]) }
        if var retired = retiredHosts[host] {
            change(&retired)
            retiredHosts[host] = retired
            return
        }
        guard hosts.count < Self.hostLimit else { return note("more than \(Self.hostLimit) hosts") }
        var made = RosterHost(id: host)
        change(&made)
        indices[host] = hosts.count
        hosts.append(made)
    }

    private mutating func note(_ what: String) {
        damaged += 1
        lastDamage = DisplayText.sanitized(what)
    }
}
