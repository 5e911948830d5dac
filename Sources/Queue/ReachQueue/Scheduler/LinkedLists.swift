/// Doubly linked lists of elements that are kept elsewhere. To append, to remove and to rotate takes the same time
/// however long a list is, and eight bytes for each element.
///
/// Invariant: an element is in one list at most, and each list is changed by its own ends only.
struct LinkedLists<Element>: Sendable {
    typealias Index = SlabIndex<Element>

    /// The two ends of one list.
    struct Ends: Hashable, Sendable {
        fileprivate var head: Int32 = -1
        fileprivate var tail: Int32 = -1

        var isEmpty: Bool { head < 0 }
        var first: Index? { head < 0 ? nil : Index(rawValue: head) }
    }

    private static var none: Int32 { -1 }
    private static var unlisted: Int32 { -2 }

    private var previous = SlabColumn<Element, Int32>(-2)
    private var next = SlabColumn<Element, Int32>(-2)

    mutating func reserveCapacity(_ count: Int) {
        previous.reserveCapacity(count)
        next.reserveCapacity(count)
    }

    func isListed(_ index: Index) -> Bool { next[index] != Self.unlisted }

    /// The element after it in its list.
    func following(_ index: Index) -> Index? {
        let after = next[index]
        return after >= 0 ? Index(rawValue: after) : nil
    }

    mutating func append(_ index: Index, to ends: inout Ends) {
        previous[index] = ends.tail
        next[index] = Self.none
        if ends.isEmpty { ends.head = index.rawValue } else { next[Index(rawValue: ends.tail)] = index.rawValue }
        ends.tail = index.rawValue
    }

    mutating func prepend(_ index: Index, to ends: inout Ends) {
        next[index] = ends.head
        previous[index] = Self.none
        if ends.isEmpty { ends.tail = index.rawValue } else { previous[Index(rawValue: ends.head)] = index.rawValue }
        ends.head = index.rawValue
    }

    mutating func remove(_ index: Index, from ends: inout Ends) {
        let (before, after) = (previous[index], next[index])
        if before == Self.none { ends.head = after } else { next[Index(rawValue: before)] = after }
        if after == Self.none { ends.tail = before } else { previous[Index(rawValue: after)] = before }
        previous[index] = Self.unlisted
        next[index] = Self.unlisted
    }

    /// Moves the first element to the end.
    mutating func rotate(_ ends: inout Ends) {
        guard ends.head != ends.tail, let first = ends.first else { return }
        remove(first, from: &ends)
        append(first, to: &ends)
    }
}
