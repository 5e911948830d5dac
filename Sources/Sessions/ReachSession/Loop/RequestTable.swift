internal import ReachQueue

/// Values of requests. The last one that was asked for is found without a search: the steps of an attempt ask for the
/// same one many times. Confined to the loop.
final class RequestTable<Value> {
    private var all: [RequestID: Value] = [:]
    private var last: (id: RequestID, value: Value?)?

    init() {}

    subscript(id: RequestID) -> Value? {
        get {
            if let last, last.id == id { return last.value }
            let value = all[id]
            last = (id, value)
            return value
        }
        set {
            last = (id, newValue)
            all[id] = newValue
        }
    }

    subscript(id: RequestID, default value: @autoclosure () -> Value) -> Value {
        get { self[id] ?? value() }
        set { self[id] = newValue }
    }

    func removeValue(forKey id: RequestID) -> Value? {
        last = (id, nil)
        return all.removeValue(forKey: id)
    }

    var values: some Collection<Value> { all.values }

    func removeAll() { (all, last) = ([:], nil) }
}
