package import ReachCore

/// The fleet's hosts: what the engine's buckets and streams hold about each, joined.
///
/// Values come from hosts, so nothing in them is trusted: the key of an entry says which host it is, and what cannot be read is
/// counted and skipped. Entries may come in any order and repeatedly.
package struct Roster: Sendable {
    /// The most hosts. A key of more hosts than that fills the reader's memory.
    package static let hostLimit = 1_000_000

    package private(set) var hosts: [RosterHost] = []
    private var indices: [String: Int] = [:]
    private var indicesByKey: [String: Int] = [:]
    /// Entries and messages that could not be read, and the last one's reason.
    package private(set) var damaged = 0
    package private(set) var lastDamage: String?

    package init() {}

    package subscript(id: String) -> RosterHost? { indices[id].map { hosts[$0] } }

    /// The host to which the operator gave a key.
    package func host(withKey key: String) -> String? { indicesByKey[key].map { hosts[$0].id } }

    // MARK: - Feeding it

    /// A host that the operator lists, with the public half of its key.
    package mutating func apply(listed host: String, key: String?) {
        update(host) { $0.key = key }
        if let key, let index = indices[host] { indicesByKey[key] = index }
    }

    /// An entry of the bucket ``FleetNames/state``; `nil` if it was deleted.
    package mutating func apply(state value: [UInt8]?, of host: String, storedAt time: Timestamp) {
        guard let value else { return update(host) { $0.report = nil } }
        do throws(WireError) {
            let report = RosterHost.Report(try HostState(value), stored: time)
            update(host) { $0.report = report }
        } catch {
            note("state of \(host): \(error)")
        }
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
        do throws(WireError) {
            return apply(try ConnectionAdvisory(value))
        } catch {
            note("report of a connection: \(error)")
            return nil
        }
    }

    @discardableResult
    package mutating func apply(_ advisory: ConnectionAdvisory) -> String? {
        guard let index = indicesByKey[advisory.user] else { return nil }
        let known = hosts[index].connection
        // The end of an earlier connection, after the next began, says nothing.
        if let known, advisory.start < known.start { return hosts[index].id }
        hosts[index].connection = RosterHost.Connection(
            isUp: advisory.isUp, time: advisory.time, start: advisory.start, address: advisory.address,
            reason: advisory.reason)
        return hosts[index].id
    }

    private mutating func update(_ host: String, _ change: (inout RosterHost) -> Void) {
        guard FleetNames.hostIsValid(host) else { return note("a key that is not a host") }
        if let index = indices[host] { return change(&hosts[index]) }
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
