/// The names and sizes of what a cache holds, within a number of bytes: what was not used for longest goes first. A
/// value.
package struct CacheShelf {
    /// The most bytes.
    package let capacity: Int
    package private(set) var bytes = 0
    private var entries: [String: (bytes: Int, used: UInt64)] = [:]
    private var lastNumber: UInt64 = 0

    package init(capacity: Int) { self.capacity = max(capacity, 0) }

    /// The most bytes of one entry: one answer does not push out all others.
    package var longest: Int { capacity / 8 }

    package var names: [String] { entries.sorted { $0.value.used < $1.value.used }.map(\.key) }

    package func contains(_ name: String) -> Bool { entries[name] != nil }

    /// Adds an entry, or replaces one.
    ///
    /// - Returns: The entries that have to go for it.
    package mutating func add(_ name: String, bytes count: Int) -> [String] {
        remove(name)
        lastNumber += 1
        entries[name] = (count, lastNumber)
        bytes += count
        guard bytes > capacity else { return [] }
        // An eighth more goes than has to: finding the oldest costs time, which then is not needed for each entry.
        let goal = capacity - longest
        var dropped: [String] = []
        for oldest in names {
            guard bytes > goal else { break }
            remove(oldest)
            dropped.append(oldest)
        }
        return dropped
    }

    package mutating func use(_ name: String) {
        lastNumber += 1
        entries[name]?.used = lastNumber
    }

    package mutating func remove(_ name: String) {
        if let entry = entries.removeValue(forKey: name) { bytes -= entry.bytes }
    }

    package mutating func removeAll() { (entries, bytes) = ([:], 0) }
}
