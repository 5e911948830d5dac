/// Doubly linked lists through the numbers of things that are kept elsewhere: to append, to take out and to turn over
/// takes the same time however long a list is, and eight bytes for each thing. A thing is in one list at most.
struct LinkedLists: Sendable {
    /// The two ends of one list.
    struct Ends: Hashable, Sendable {
        fileprivate(set) var first: Int32 = LinkedLists.none
        fileprivate(set) var last: Int32 = LinkedLists.none

        var isEmpty: Bool { first == LinkedLists.none }
    }

    private static let none: Int32 = -1
    private static let unlisted: Int32 = -2

    private var previous: [Int32] = []
    private var next: [Int32] = []

    /// Makes room for things with numbers below `count`.
    mutating func grow(to count: Int) {
        guard next.count < count else { return }
        previous.append(contentsOf: repeatElement(Self.unlisted, count: count - previous.count))
        next.append(contentsOf: repeatElement(Self.unlisted, count: count - next.count))
    }

    mutating func reserveCapacity(_ count: Int) {
        previous.reserveCapacity(count)
        next.reserveCapacity(count)
    }

    func isListed(_ thing: Int32) -> Bool { next[Int(thing)] != Self.unlisted }

    /// The one after it in its list.
    func following(_ thing: Int32) -> Int32? {
        let after = next[Int(thing)]
        return after >= 0 ? after : nil
    }

    mutating func append(_ thing: Int32, to ends: inout Ends) {
        previous[Int(thing)] = ends.last
        next[Int(thing)] = Self.none
        if ends.last == Self.none { ends.first = thing } else { next[Int(ends.last)] = thing }
        ends.last = thing
    }

    mutating func prepend(_ thing: Int32, to ends: inout Ends) {
        next[Int(thing)] = ends.first
        previous[Int(thing)] = Self.none
        if ends.first == Self.none { ends.last = thing } else { previous[Int(ends.first)] = thing }
        ends.first = thing
    }

    mutating func remove(_ thing: Int32, from ends: inout Ends) {
        let (before, after) = (previous[Int(thing)], next[Int(thing)])
        if before == Self.none { ends.first = after } else { next[Int(before)] = after }
        if after == Self.none { ends.last = before } else { previous[Int(after)] = before }
        previous[Int(thing)] = Self.unlisted
        next[Int(thing)] = Self.unlisted
    }

    /// Moves the first to the end.
    mutating func rotate(_ ends: inout Ends) {
        guard ends.first != ends.last else { return }
        let first = ends.first
        remove(first, from: &ends)
        append(first, to: &ends)
    }
}
