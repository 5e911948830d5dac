/// A value whose copies share their storage until one of them changes, so that a large one costs a word to hand on and
/// to keep.
///
/// Inlinable: else each module would look up the type's description and copy values through it
/// (contrib/bench/bounds.md).
@usableFromInline package struct Shared<Value: Sendable>: Sendable {
    /// Unchecked, since it changes only while a single reference to it exists.
    @usableFromInline final class Storage: @unchecked Sendable {
        @usableFromInline var value: Value

        @inlinable init(_ value: Value) { self.value = value }
    }

    @usableFromInline var storage: Storage

    @inlinable package init(_ value: Value) { storage = Storage(value) }

    @inlinable package var value: Value {
        _read { yield storage.value }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
            yield &storage.value
        }
    }
}

extension Shared: Equatable where Value: Equatable {
    @inlinable package static func == (left: Shared, right: Shared) -> Bool {
        left.storage === right.storage || left.storage.value == right.storage.value
    }
}

extension Shared: Hashable where Value: Hashable {
    @inlinable package func hash(into hasher: inout Hasher) { hasher.combine(storage.value) }
}
