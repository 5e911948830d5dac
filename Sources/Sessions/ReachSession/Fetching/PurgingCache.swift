package import ReachCore

/// A cache in memory. When its values exceed the capacity, it removes the least recently used ones until a preferred
/// size is left: AFAutoPurgingImageCache, for any value. ``AutoPurgingCache`` is the same for many threads.
///
/// Each call takes the current time. Values used at the same instant are removed in the order of use.
package struct PurgingCache<Key: Hashable & Sendable, Value> {
    fileprivate struct Entry {
        var value: Value
        var bytes: Int64
        var lastUse: (time: BootTime, number: UInt64)
    }

    /// The size in bytes above which the cache is purged: 100 MiB in AFNetworking.
    package let capacity: Int64
    /// The size in bytes to which a purge reduces the cache: 60 MiB in AFNetworking.
    package let preferredSize: Int64
    /// The total size in bytes, as given with each insertion.
    package private(set) var size: Int64 = 0

    private var entries: [Key: Entry] = [:]
    private var lastNumber: UInt64 = 0

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - capacity: The capacity in bytes.
    ///   - preferredSize: The preferred size in bytes, at most the capacity.
    package init(capacity: Int64 = 100 << 20, preferredSize: Int64 = 60 << 20) {
        self.capacity = max(capacity, 0)
        self.preferredSize = min(max(preferredSize, 0), self.capacity)
    }

    /// The number of values.
    package var count: Int { entries.count }

    /// Inserts a value, or replaces the one with the same key. Counts as a use.
    ///
    /// - Parameters:
    ///   - value: The value to store.
    ///   - key: The key of the value.
    ///   - bytes: The size of the value in bytes.
    ///   - now: The current time.
    /// - Returns: The keys that were purged, least recently used first; possibly the inserted key itself, if its value
    ///   alone is too large.
    @discardableResult
    package mutating func insert(_ value: Value, for key: Key, bytes: Int64, at now: BootTime) -> [Key] {
        exchange(value, for: key, bytes: bytes, at: now).purged
    }

    /// Inserts a value, as ``insert(_:for:bytes:at:)`` does.
    ///
    /// - Returns: The keys that were purged, and the values that were removed, which a caller with a lock releases
    ///   after it.
    mutating func exchange(
        _ value: Value, for key: Key, bytes: Int64, at now: BootTime
    ) -> (purged: [Key], removed: [Value]) {
        let bytes = max(bytes, 0)
        let before = entries.updateValue(Entry(value: value, bytes: bytes, lastUse: nextUse(at: now)), forKey: key)
        size += bytes - (before?.bytes ?? 0)
        let purged = size > capacity ? purge() : []
        return (purged.map(\.key), purged.map(\.value) + [before?.value].compactMap { $0 })
    }

    /// Returns the value of a key. Counts as a use.
    package mutating func value(for key: Key, at now: BootTime) -> Value? {
        let use = nextUse(at: now)
        entries[key]?.lastUse = use
        return entries[key]?.value
    }

    /// Removes a value.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    package mutating func remove(_ key: Key) -> Bool { extract(key) != nil }

    /// Removes a value and returns it.
    mutating func extract(_ key: Key) -> Value? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        size -= entry.bytes
        return entry.value
    }

    /// Removes all values, for example when memory is short.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    package mutating func removeAll() -> Bool {
        defer { (entries, size) = ([:], 0) }
        return !entries.isEmpty
    }

    private mutating func purge() -> [(key: Key, value: Value)] {
        var purged: [(key: Key, value: Value)] = []
        for (key, entry) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
            guard size > preferredSize else { break }
            size -= entry.bytes
            entries[key] = nil
            purged.append((key, entry.value))
        }
        return purged
    }

    private mutating func nextUse(at now: BootTime) -> (time: BootTime, number: UInt64) {
        lastNumber += 1
        return (now, lastNumber)
    }
}

extension PurgingCache: Sendable where Value: Sendable {}
extension PurgingCache.Entry: Sendable where Value: Sendable {}
