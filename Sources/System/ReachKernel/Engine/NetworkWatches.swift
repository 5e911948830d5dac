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

    /// - Returns: Whether the handlers need it: it differs from the one before, or there is none.
    func update(_ snapshot: NetworkSnapshot?) -> Bool {
        guard snapshot == nil || snapshot != self.snapshot else { return false }
        self.snapshot = snapshot
        return true
    }

    /// Calls the handlers that no earlier handler has removed.
    func send(_ snapshot: NetworkSnapshot?) {
        for (id, handler) in handlers where handlers.contains(where: { $0.id == id }) { handler(snapshot) }
    }
}
