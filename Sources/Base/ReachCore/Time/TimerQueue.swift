/// Deadlines in order, each with an identifier to cancel it by.
///
/// It is a binary heap. A cancelled entry stays until it reaches the top, or until cancelled entries outnumber the live
/// ones: an entry far in the future would otherwise stay until its time.
package struct TimerQueue: Sendable {
    package typealias ID = UInt64

    private struct Entry {
        let deadline: BootTime
        /// Nanoseconds.
        let tolerance: Int64
        let id: ID

        static func < (left: Entry, right: Entry) -> Bool { (left.deadline, left.id) < (right.deadline, right.id) }
    }

    private var heap: [Entry] = []
    private var live: Set<ID> = []
    private var lastID: ID = 0

    package init() {}

    /// Adds a timer. Of equal deadlines the one added first is due first.
    ///
    /// - Parameter tolerance: How much before its deadline it is due if ``popDue(at:)`` is called then, and no timer
    ///   with an earlier deadline is left. It does not affect ``next``.
    package mutating func add(_ deadline: BootTime, tolerance: Duration = .zero) -> ID {
        lastID += 1
        live.insert(lastID)
        heap.append(Entry(deadline: deadline, tolerance: tolerance.nanoseconds, id: lastID))
        siftUp(heap.count - 1)
        return lastID
    }

    /// Cancels a timer. Does nothing if it has fired, was cancelled, or never existed.
    package mutating func cancel(_ id: ID) {
        live.remove(id)
        dropCancelled()
        if heap.count > 2 * live.count + 64 { rebuild() }
    }

    /// The number of entries, with those of cancelled timers.
    var entryCount: Int { heap.count }

    /// The earliest deadline; `nil` without timers.
    package var next: BootTime? { heap.first?.deadline }

    /// Removes and returns the earliest timer if its deadline, less its tolerance, is not after `now`.
    package mutating func popDue(at now: BootTime) -> ID? {
        guard let first = heap.first,
            first.deadline <= now || first.deadline.nanoseconds - now.nanoseconds <= first.tolerance
        else { return nil }
        live.remove(first.id)
        dropCancelled()
        return first.id
    }

    private mutating func dropCancelled() {
        while let first = heap.first, !live.contains(first.id) { removeFirst() }
    }

    private mutating func rebuild() {
        // A sorted array is a valid heap.
        heap = heap.filter { live.contains($0.id) }.sorted(by: <)
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        siftDown(0)
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var least = 2 * parent + 1
            guard least < heap.count else { return }
            if least + 1 < heap.count, heap[least + 1] < heap[least] { least += 1 }
            guard heap[least] < heap[parent] else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}

/// Waiting times between attempts, doubling from `first` up to `longest`.
package struct Backoff: Hashable, Sendable {
    private let first: Duration
    private let longest: Duration
    private var next: Duration

    package init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
        next = first
    }

    /// Returns how long to wait before the next attempt, and doubles the wait after it.
    package mutating func wait() -> Duration {
        defer { next = min(next * 2, longest) }
        return next
    }

    /// Starts again from the first wait, after an attempt succeeded.
    package mutating func reset() { next = first }
}
