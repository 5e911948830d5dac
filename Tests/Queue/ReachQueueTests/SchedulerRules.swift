import ReachCore

@testable import ReachQueue

/// What must hold between two turns.
extension QueueScheduler {
    /// The rules that are broken: each count is that of what is counted, and nothing is kept for what is gone.
    func brokenRules() -> [String] {
        var rules = Rules()
        let entries = requests.all.values.map { requests[$0] }
        checkRequests(entries, &rules)
        checkGroups(entries, &rules)
        checkDestinations(entries, &rules)
        checkPlaces(entries, &rules)
        return rules.broken
    }

    private struct Rules {
        var broken: [String] = []

        mutating func expect<Value: Equatable>(_ what: String, _ found: Value, _ right: Value) {
            if found != right { broken.append("\(what): \(found), not \(right)") }
        }
    }

    private func checkRequests(_ entries: [QueueEntry], _ rules: inout Rules) {
        let unfinished = entries.filter { $0.place != .dead }
        rules.expect("unfinished", owners.count, unfinished.count)
        rules.expect("bytes", owners.bytes, unfinished.reduce(0) { $0 + $1.bytes })
        for (owner, own) in Dictionary(grouping: entries, by: \.owner) {
            let unfinished = own.filter { $0.place != .dead }
            rules.expect("unfinished of \(owner)", owners.count(of: owner), unfinished.count)
            rules.expect("bytes of \(owner)", owners.bytes(of: owner), unfinished.reduce(0) { $0 + $1.bytes })
            let running = own.count { $0.place == .running }
            rules.expect("slots of \(owner)", attempts.share(of: owner).running, running)
        }
        rules.expect("users with turns", Set(attempts.users).subtracting(unfinished.map(\.owner)), [])
        rules.expect("running", Set(attempts.ids), Set(entries.filter { $0.place == .running }.map(\.id)))
        rules.expect("attempts", attempts.count, Set(attempts.ids).count)
        let judged = attempts.judgedSlots.map { requests[$0].id }
        rules.expect("judged", Set(judged), Set(entries.filter { $0.place == .judged }.map(\.id)))
    }

    private func checkGroups(_ entries: [QueueEntry], _ rules: inout Rules) {
        let members = Dictionary(grouping: entries, by: \.group)
        rules.expect("groups of requests", Set(members.keys).subtracting(gates.all), [])
        for index in gates.all {
            let (group, own) = (gates[index], members[index] ?? [])
            let name = "group \(index.rawValue)"
            rules.expect("\(name): requests", group.count, own.count)
            rules.expect("\(name): prepared", group.preparing, own.count { $0.place == .preparing })
            rules.expect("\(name): network waits", group.networkWaits.count, own.count { $0.place == .networkWait })
            rules.expect(
                "\(name): destination waits", group.destinationWaits.count, own.count { $0.place == .destinationWait })
            let users = lines.users(inGroup: index).map(\.user)
            rules.expect("\(name): users", users.sorted(), Set(ready(own).map(\.owner)).sorted())
            rules.expect("\(name): channel", group.channel == nil, group.gate.isClosed)
            if group.key.destination != nil { rules.expect("\(name) without requests", group.count == 0, false) }
        }
        rules.expect("open", gates.openCount, gates.all.count { !gates[$0].gate.isClosed })
        rules.expect("unproved", gates.unproved, Set(gates.all.filter { gates[$0].gate.isUnproved }))
        rules.expect("users in lines", Set(lines.users), Set(ready(entries).map(\.owner)))
    }

    private func ready(_ entries: [QueueEntry]) -> [QueueEntry] { entries.filter { $0.place == .ready } }

    private func checkDestinations(_ entries: [QueueEntry], _ rules: inout Rules) {
        let members = Dictionary(grouping: entries, by: \.destination)
        for index in destinations.allSites {
            let site = destinations[index]
            for record in site.records {
                let own = members[record] ?? []
                rules.expect("\(site.destination): requests", destinations[record].count, own.count)
                let running = own.count { $0.place == .running }
                rules.expect("\(site.destination): running", Int(destinations[record].running), running)
                if own.isEmpty, destinations.trouble(at: record) == nil {
                    rules.broken.append("\(site.destination) is kept for nothing")
                }
            }
            let own = site.records.flatMap { members[$0] ?? [] }
            rules.expect("\(site.destination): all running", Int(site.running), own.count { $0.place == .running })
            let shared = own.filter { gates[$0.group].key.destination == nil }
            let counts = Dictionary(grouping: shared, by: \.group).mapValues { Int32($0.count) }
            rules.expect("\(site.destination): shared groups", site.sharedGroups, counts)
            let groups = gates.all.filter { gates[$0].key.destination == site.destination }
            rules.expect("\(site.destination): own groups", (site.routedGroups + site.targetGroups).sorted(), groups)
            guard site.isSeparate else { continue }
            let late = shared.filter { ![.preparing, .judged, .running].contains($0.place) }
            rules.expect("\(site.destination): not separate", late.map(\.id), [])
        }
    }

    /// Every slab holds what is there, and nothing else.
    private func checkPlaces(_ entries: [QueueEntry], _ rules: inout Rules) {
        struct Lane: Hashable {
            let group: GroupIndex
            let destination: DestinationIndex
            let kind: StartKind
        }
        struct Section: Hashable {
            let group: GroupIndex
            let owner: UInt32
        }
        let ready = ready(entries)
        let lanes = ready.map {
            Lane(group: $0.group, destination: $0.destination, kind: StartKind($0.priority, $0.startClass))
        }
        let sections = ready.map { Section(group: $0.group, owner: $0.owner) }
        rules.expect("lanes", held(in: lines, "lanes"), Set(lanes).count)
        rules.expect("sections", held(in: lines, "sections"), Set(sections).count)
        rules.expect("lines of users", held(in: lines, "userLines"), Set(ready.map(\.owner)).count)
        rules.expect("entries", held(in: requests, "entries"), entries.count)
        rules.expect("orders", held(in: requests, "chains", "chains"), Set(entries.compactMap(\.chain)).count)
        rules.expect("groups", held(in: gates, "groups"), gates.all.count)
        rules.expect("sites", held(in: destinations, "sites"), destinations.allSites.count)
        let records = destinations.allSites.flatMap { destinations[$0].records }
        rules.expect("records", held(in: destinations, "records"), Set(records).count)
        let channels = gates.all.compactMap { gates[$0].channel } + attempts.indices.map { attempts[$0].channel }
        rules.expect("channels", held(in: attempts, "channels"), Set(channels).count)
    }
}
