package import ReachCore

/// One deadline for each key, the earliest first.
package typealias DeadlineQueue<Key: Hashable & Sendable> = DeadlineHeap<KeyPlaces<Key>>

/// One deadline for each slot, for a queue that has most slots: it takes four bytes for every slot, and none is searched for.
package typealias SlotDeadlines = DeadlineHeap<SlotPlaces>

/// Where each key stands in a heap.
package protocol DeadlinePlaces<Key>: Sendable {
    associatedtype Key: Hashable & Sendable

    init()
    subscript(key: Key) -> Int32? { get set }
    mutating func reserveCapacity(_ count: Int)
}

/// The places of keys of any kind.
package struct KeyPlaces<Key: Hashable & Sendable>: DeadlinePlaces {
    private var places: [Key: Int32] = [:]

    package init() {}

    package subscript(key: Key) -> Int32? {
        get { places[key] }
        set { places[key] = newValue }
    }

    package mutating func reserveCapacity(_ count: Int) { places.reserveCapacity(count) }
}

/// The places of slots, which are numbered from 0.
package struct SlotPlaces: DeadlinePlaces {
    private static let none: Int32 = -1

    private var places: [Int32] = []

    package init() {}

    package subscript(slot: Int32) -> Int32? {
        get {
            guard Int(slot) < places.count, case let place = places[Int(slot)], place != Self.none else { return nil }
            return place
        }
        set {
            if Int(slot) >= places.count {
                guard newValue != nil else { return }
                places.append(contentsOf: repeatElement(Self.none, count: Int(slot) + 1 - places.count))
            }
            places[Int(slot)] = newValue ?? Self.none
        }
    }

    package mutating func reserveCapacity(_ count: Int) { places.reserveCapacity(count) }
}

/// A binary heap of deadlines that knows where each key stands, so that a deadline can be moved or taken out without leaving
/// anything behind.
package struct DeadlineHeap<Places: DeadlinePlaces>: Sendable {
    package typealias Key = Places.Key

    private struct Item: Sendable {
        let deadline: BootTime
        let key: Key
    }

    private var heap: [Item] = []
    private var places = Places()

    package init() {}

    package var isEmpty: Bool { heap.isEmpty }
    package var count: Int { heap.count }
    package var earliest: BootTime? { heap.first?.deadline }
    /// The key of the earliest deadline.
    package var first: Key? { heap.first?.key }

    package subscript(key: Key) -> BootTime? { places[key].map { heap[Int($0)].deadline } }

    package mutating func reserveCapacity(_ count: Int) {
        heap.reserveCapacity(count)
        places.reserveCapacity(count)
    }

    /// Sets the key's deadline, or takes it out.
    package mutating func set(_ key: Key, to deadline: BootTime?) {
        guard let deadline else { return remove(key) }
        let item = Item(deadline: deadline, key: key)
        if let place = places[key] {
            let earlier = deadline < heap[Int(place)].deadline
            heap[Int(place)] = item
            if earlier { siftUp(Int(place)) } else { siftDown(Int(place)) }
        } else {
            heap.append(item)
            places[key] = Int32(heap.count - 1)
            siftUp(heap.count - 1)
        }
    }

    /// Sets the key's deadline unless it has an earlier one.
    package mutating func setNoLater(_ key: Key, than deadline: BootTime) {
        if let present = self[key], present <= deadline { return }
        set(key, to: deadline)
    }

    package mutating func remove(_ key: Key) {
        guard let place = places[key].map(Int.init) else { return }
        places[key] = nil
        let last = heap.removeLast()
        guard place < heap.count else { return }
        heap[place] = last
        places[last.key] = Int32(place)
        siftUp(place)
        siftDown(place)
    }

    /// Takes out the earliest key whose deadline is not after `now`.
    package mutating func popDue(at now: BootTime) -> Key? {
        guard let first = heap.first, first.deadline <= now else { return nil }
        remove(first.key)
        return first.key
    }

    /// Takes out the earliest key.
    package mutating func pop() -> Key? {
        guard let first = heap.first else { return nil }
        remove(first.key)
        return first.key
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        let item = heap[child]
        while child > 0, item.deadline < heap[(child - 1) / 2].deadline {
            place(heap[(child - 1) / 2], at: child)
            child = (child - 1) / 2
        }
        place(item, at: child)
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        let item = heap[parent]
        while 2 * parent + 1 < heap.count {
            var least = 2 * parent + 1
            if least + 1 < heap.count, heap[least + 1].deadline < heap[least].deadline { least += 1 }
            guard heap[least].deadline < item.deadline else { break }
            place(heap[least], at: parent)
            parent = least
        }
        place(item, at: parent)
    }

    private mutating func place(_ item: Item, at index: Int) {
        heap[index] = item
        places[item.key] = Int32(index)
    }
}
