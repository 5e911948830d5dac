internal import ReachCore
internal import ReachLoop
internal import Synchronization

/// A cache in memory for any number of threads. When its values exceed the capacity, it removes the least recently used
/// ones until a preferred size is left: AFAutoPurgingImageCache, for any value. A value that is removed is released
/// without a lock.
///
/// Nothing empties it when memory is short: call ``removeAll()`` where a program finds that out.
public final class AutoPurgingCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The size in bytes above which the cache is purged.
    public let capacity: Int64
    /// The size in bytes to which a purge reduces the cache.
    public let preferredSize: Int64

    private let clock: @Sendable () -> BootTime
    private let cache: Mutex<PurgingCache<Key, Value>>

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - capacity: The capacity in bytes: 100 MiB in AFNetworking.
    ///   - preferredSize: The preferred size in bytes, at most the capacity: 60 MiB in AFNetworking.
    public convenience init(capacity: Int64 = 100 << 20, preferredSize: Int64 = 60 << 20) {
        self.init(capacity: capacity, preferredSize: preferredSize) { SystemClock.boot }
    }

    package init(capacity: Int64, preferredSize: Int64, clock: @escaping @Sendable () -> BootTime) {
        let empty = PurgingCache<Key, Value>(capacity: capacity, preferredSize: preferredSize)
        self.capacity = empty.capacity
        self.preferredSize = empty.preferredSize
        self.clock = clock
        cache = Mutex(empty)
    }

    /// The total size in bytes, as given with each value.
    public var totalBytes: Int64 { cache.withLock { $0.size } }

    /// The number of values.
    public var count: Int { cache.withLock { $0.count } }

    /// Adds a value, or replaces the one with the same key. Counts as a use.
    ///
    /// - Parameter bytes: The size of the value in bytes.
    /// - Returns: The keys that were purged, least recently used first; possibly this key, if its value alone is too
    ///   large.
    @discardableResult
    public func add(_ value: Value, for key: Key, bytes: Int64) -> [Key] {
        let now = clock()
        let removed = cache.withLock { $0.exchange(value, for: key, bytes: bytes, at: now) }
        return removed.purged
    }

    /// The value of a key; `nil` if there is none. Counts as a use.
    public func value(for key: Key) -> Value? {
        let now = clock()
        return cache.withLock { $0.value(for: key, at: now) }
    }

    /// Removes a value.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func remove(_ key: Key) -> Bool {
        let removed = cache.withLock { $0.extract(key) }
        return removed != nil
    }

    /// Removes all values.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    public func removeAll() -> Bool {
        let removed = cache.withLock { cache in
            defer { cache.removeAll() }
            return cache
        }
        return removed.count > 0
    }
}
