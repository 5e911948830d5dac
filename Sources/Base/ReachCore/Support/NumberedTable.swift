/// Values under numbers of which none is given twice: whoever ends a watch after its value went ends no other one.
///
/// Inlinable, as ``Shared`` is.
@usableFromInline package struct NumberedTable<Value> {
    @usableFromInline var entries: [UInt64: Value] = [:]
    @usableFromInline var last: UInt64 = 0

    @inlinable package init() {}

    /// The values by their numbers, in no order.
    @inlinable package var all: [UInt64: Value] { entries }

    @inlinable package var values: Dictionary<UInt64, Value>.Values { entries.values }

    @inlinable package var count: Int { entries.count }

    /// A number for a value that is set later.
    @inlinable package mutating func reserve() -> UInt64 {
        last += 1
        return last
    }

    /// - Returns: The value's number.
    @inlinable package mutating func add(_ value: Value) -> UInt64 {
        last += 1
        entries[last] = value
        return last
    }

    @inlinable package subscript(number: UInt64) -> Value? {
        get { entries[number] }
        set { entries[number] = newValue }
    }

    @inlinable package mutating func remove(_ number: UInt64) -> Value? { entries.removeValue(forKey: number) }

    @inlinable package mutating func removeAll() { entries = [:] }
}

extension NumberedTable: Sendable where Value: Sendable {}
