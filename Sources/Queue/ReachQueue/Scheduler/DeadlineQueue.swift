internal import ReachCore

/// One deadline for each key, the earliest first.
typealias DeadlineQueue<Key: Hashable & Sendable> = DeadlineHeap<KeyPlaces<Key>>

/// One deadline for each request of a queue that has most of them: it takes four bytes for every slot, and hashes
/// nothing.
typealias SlotDeadlines = DeadlineHeap<SlotPlaces>

/// The place of each key in a heap.
protocol DeadlinePlaces<Key>: Sendable {
    associatedtype Key: Hashable & Sendable

    init()
    subscript(key: Key) -> Int32? { get set }
    mutating func reserveCapacity(_ count: Int)
}

struct KeyPlaces<Key: Hashable & Sendable>: DeadlinePlaces {
    private var places: [Key: Int32] = [:]

    subscript(key: Key) -> Int32? {
        get { places[key] }
        set { places[key] = newValue }
    }

    mutating func reserveCapacity(_ count: Int) { places.reserveCapacity(count) }
}

struct SlotPlaces: DeadlinePlaces {
    private var places = SlabColumn<QueueEntry, Int32>(-1)

    subscript(slot: Slot) -> Int32? {
        get {
            let place = places[slot]
            return place < 0 ? nil : place
        }
        set { places[slot] = newValue ?? -1 }
    }

    mutating func reserveCapacity(_ count: Int) { places.reserveCapacity(count) }
}

/// A binary heap of deadlines that knows the place of each key, so that a deadline can be moved or removed without
/// leaving anything behind.
struct DeadlineHeap<Places: DeadlinePlaces>: Sendable {
    typealias Key = Places.Key

    private struct Item: Sendable {
        let deadline: BootTime
        let key: Key
    }

    private var heap: [Item] = []
    private var places = Places()

    init() {}

    var isEmpty: Bool { heap.isEmpty }
    var count: Int { heap.count }
    var earliest: BootTime? { heap.first?.deadline }
    /// The key of the earliest deadline.
    var first: Key? { heap.first?.key }

    subscript(key: Key) -> BootTime? { places[key].map { heap[Int($0)].deadline } }

    mutating func reserveCapacity(_ count: Int) {
        heap.reserveCapacity(count)
        places.reserveCapacity(count)
    }

    /// Sets the key's deadline, or removes it.
    mutating func set(_ key: Key, to deadline: BootTime?) {
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
    mutating func setNoLater(_ key: Key, than deadline: BootTime) {
        if let present = self[key], present <= deadline { return }
        set(key, to: deadline)
    }

    mutating func remove(_ key: Key) {
        guard let place = places[key].map(Int.init) else { return }
        places[key] = nil
        let last = heap.removeLast()
        guard place < heap.count else { return }
        heap[place] = last
        places[last.key] = Int32(place)
        siftUp(place)
        siftDown(place)
    }

    /// Removes the earliest key whose deadline is not after `now`.
    mutating func popDue(at now: BootTime) -> Key? {
        guard let first = heap.first, first.deadline <= now else { return nil }
        remove(first.key)
        return first.key
    }

    /// Removes the earliest key.
    mutating func pop() -> Key? {
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
