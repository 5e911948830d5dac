internal import Synchronization

/// Objects that several users share, one for each key: made for the first user, and given back by the last.
package final class SharedObjects<Key: Hashable & Sendable, Object: Sendable>: Sendable {
    private struct Entry {
        let object: Object
        var users = 0
    }

    private let entries = Mutex<[Key: Entry]>([:])

    package init() {}

    /// The number of objects that have users.
    package var count: Int { entries.withLock { $0.count } }

    /// Adds a user of a key's object.
    ///
    /// - Parameter make: Makes the object for the first user. Runs under a lock: it must not use this.
    package func join(_ key: Key, make: () -> Object) -> Object {
        entries.withLock { entries in
            var entry = entries[key] ?? Entry(object: make())
            entry.users += 1
            entries[key] = entry
            return entry.object
        }
    }

    /// Removes a user of a key's object.
    ///
    /// - Returns: The object without users, which the caller ends; `nil` while others use it.
    package func leave(_ key: Key) -> Object? {
        entries.withLock { entries in
            guard var entry = entries[key] else { return nil }
            entry.users -= 1
            entries[key] = entry.users > 0 ? entry : nil
            return entry.users > 0 ? nil : entry.object
        }
    }
}
