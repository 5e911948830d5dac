@testable import ReachQueue

/// The number of elements of a slab inside of a value.
func held(in value: Any, _ path: String...) -> Int? {
    var part: Any? = value
    for name in path { part = part.flatMap { Mirror(reflecting: $0).descendant(name) } }
    return part.flatMap(held)
}

private func held(in slab: Any) -> Int? {
    let mirror = Mirror(reflecting: slab)
    guard let elements = mirror.descendant("elements") as? any Collection,
        let free = mirror.descendant("free") as? any Collection
    else { return nil }
    return elements.count - free.count
}

/// The paths of what a value still holds: collections with elements, slabs with places that are not free, and columns
/// with another value than the first one.
///
/// - Parameter kept: Paths that are passed over.
func leftovers(in value: Any, beside kept: Set<String> = []) -> [String] {
    var found: [String] = []
    visit(value, at: "", beside: kept, &found)
    return found
}

private func visit(_ value: Any, at path: String, beside kept: Set<String>, _ found: inout [String]) {
    guard !kept.contains(path) else { return }
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .collection, .dictionary, .set:
        if !mirror.children.isEmpty { found.append("\(path) has \(mirror.children.count)") }
    case .optional:
        for child in mirror.children { visit(child.value, at: path, beside: kept, &found) }
    case .struct:
        let type = "\(type(of: value))"
        if type.hasPrefix("Slab<") {
            if let count = held(in: value), count != 0 { found.append("\(path) has \(count)") }
        } else if type.hasPrefix("SlabColumn<") {
            let (values, initial) = (mirror.descendant("values"), mirror.descendant("initial"))
            let others = values.map { Mirror(reflecting: $0).children.map { "\($0.value)" } } ?? ["nothing"]
            let first = initial.map { "\($0)" } ?? ""
            if let other = others.first(where: { $0 != first }) { found.append("\(path) has \(other)") }
        } else {
            for child in mirror.children {
                visit(child.value, at: path + (path.isEmpty ? "" : ".") + (child.label ?? ""), beside: kept, &found)
            }
        }
    default: break
    }
}

extension QueueScheduler {
    /// What it keeps though no request needs it any more: what is known of the network, and the conditions and the
    /// requests that it had last.
    private static let kept: Set<String> = [
        "network.paths", "network.histories", "network.proved", "network.evidence.checks", "network.silent.notes",
        "network.silent.answers", "network.silent.unreached", "gates.groups", "gates.indices", "gates.idle",
        "gates.unproved", "attempts.channels", "lines.groups", "admission.interceptors", "requests.recent.requests",
        "metered.accounts",
        "metered.zone",
    ]
    /// The same of destinations that have failed.
    private static let troubles: Set<String> = [
        "destinations.records", "destinations.recordIndices", "destinations.sites", "destinations.siteIndices",
        "destinations.idle", "destinations.troubles", "destinations.attentive", "destinations.lookups.lookups",
    ]

    /// What is left of requests when all are over.
    ///
    /// - Parameter hasFailed: Whether destinations may have failed: that is remembered.
    func leftovers(hasFailed: Bool = false) -> [String] {
        ReachQueueTests.leftovers(in: self, beside: hasFailed ? Self.kept.union(Self.troubles) : Self.kept)
    }
}
