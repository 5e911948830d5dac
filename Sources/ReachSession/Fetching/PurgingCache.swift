public import ReachCore

/// Holds values in memory up to a capacity, and when there are more frees those used longest ago until a preferred size
/// is left: AFAutoPurgingImageCache, for anything.
///
/// Time comes in with every call. Values used at the same instant go in the order in which they were used.
public struct PurgingCache<Key: Hashable & Sendable, Value> {
    fileprivate struct Entry {
        var value: Value
        var bytes: Int64
        var lastUse: (time: BootTime, number: UInt64)
    }

    /// When there are more bytes than this, it is purged: 100 MiB in AFNetworking.
    public let capacity: Int64
    /// What is left after a purge, or less: 60 MiB in AFNetworking.
    public let preferredSize: Int64
    /// What the values take, as those who inserted them say.
    public private(set) var size: Int64 = 0

    private var entries: [Key: Entry] = [:]
    private var lastNumber: UInt64 = 0

    /// - Parameters:
    ///   - capacity: In bytes.
    ///   - preferredSize: In bytes; no more than the capacity.
    public init(capacity: Int64 = 100 << 20, preferredSize: Int64 = 60 << 20) {
        self.capacity = max(capacity, 0)
        self.preferredSize = min(max(preferredSize, 0), self.capacity)
    }

    /// How many values there are.
    public var count: Int { entries.count }

    /// Puts a value in, in place of one with the same key, and counts as a use.
    ///
    /// - Parameters:
    ///   - value: What to hold.
    ///   - key: What to find it by.
    ///   - bytes: What it takes.
    ///   - now: When.
    /// - Returns: What was purged, those used longest ago first; perhaps the value itself, if it alone is too large.
    @discardableResult
    public mutating func insert(_ value: Value, for key: Key, bytes: Int64, at now: BootTime) -> [Key] {
        let bytes = max(bytes, 0)
        size += bytes - (entries[key]?.bytes ?? 0)
        entries[key] = Entry(value: value, bytes: bytes, lastUse: nextUse(at: now))
        return size > capacity ? purge() : []
    }

    /// The value of a key, which counts as a use.
    public mutating func value(for key: Key, at now: BootTime) -> Value? {
        let use = nextUse(at: now)
        entries[key]?.lastUse = use
        return entries[key]?.value
    }

    /// Takes a value out.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public mutating func remove(_ key: Key) -> Bool {
        guard let entry = entries.removeValue(forKey: key) else { return false }
        size -= entry.bytes
        return true
    }

    /// Takes all out, as when memory is short.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    public mutating func removeAll() -> Bool {
        defer { (entries, size) = ([:], 0) }
        return !entries.isEmpty
    }

    private mutating func purge() -> [Key] {
        var purged: [Key] = []
        for (key, entry) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
            guard size > preferredSize else { break }
            size -= entry.bytes
            entries[key] = nil
            purged.append(key)
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
