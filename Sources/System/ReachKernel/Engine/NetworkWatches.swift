internal import ReachCore

/// Who watches the network, and the snapshot that they have. Confined to the loop.
final class NetworkWatches {
    typealias Handler = (NetworkSnapshot?) -> Void

    /// The last snapshot; `nil` before the first, while the kernel cannot be observed, and without handlers.
    private(set) var snapshot: NetworkSnapshot?
    private var handlers: [(id: UInt64, handler: Handler)] = []

    var isEmpty: Bool { handlers.isEmpty }

    func add(_ id: UInt64, _ handler: @escaping Handler) { handlers.append((id, handler)) }

    func remove(_ id: UInt64) {
        handlers.removeAll { $0.id == id }
        if handlers.isEmpty { snapshot = nil }
    }

    /// - Returns: Whether the handlers have to be told: it differs from the one before, or there is none.
    func take(_ fresh: NetworkSnapshot?) -> Bool {
        guard fresh == nil || fresh != snapshot else { return false }
        snapshot = fresh
        return true
    }

    /// Calls the handlers that no earlier handler has removed.
    func tell(_ fresh: NetworkSnapshot?) {
        for (id, handler) in handlers where handlers.contains(where: { $0.id == id }) { handler(fresh) }
    }
}
