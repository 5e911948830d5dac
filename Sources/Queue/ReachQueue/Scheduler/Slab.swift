/// The place of an element in a ``Slab``: four bytes that cannot be mistaken for the place of an element of another
/// type.
struct SlabIndex<Element>: Hashable, Comparable, Sendable {
    let rawValue: Int32

    static func < (first: SlabIndex, second: SlabIndex) -> Bool { first.rawValue < second.rawValue }
}

/// Elements that keep their places until they are removed. A place that is free again goes to the next new element.
///
/// Invariant: an index is handed out again only after ``remove(_:)``. A removed element stays readable until then, so a
/// walk over ``indices`` has to leave out the elements whose owner marked them as removed.
struct Slab<Element: Sendable>: Sendable {
    typealias Index = SlabIndex<Element>

    private var elements: [Element] = []
    private var free: [Index] = []

    /// The number of places, with those that are free.
    var capacity: Int { elements.count }

    /// All places, also those that are free.
    var indices: some Sequence<Index> { elements.indices.lazy.map { Index(rawValue: Int32($0)) } }

    subscript(index: Index) -> Element {
        _read { yield elements[Int(index.rawValue)] }
        _modify { yield &elements[Int(index.rawValue)] }
    }

    mutating func insert(_ element: Element) -> Index {
        if let index = free.popLast() {
            self[index] = element
            return index
        }
        elements.append(element)
        return Index(rawValue: Int32(elements.count - 1))
    }

    mutating func remove(_ index: Index) { free.append(index) }

    mutating func reserveCapacity(_ count: Int) { elements.reserveCapacity(count) }
}

/// One more value for each element of a slab that another type owns. An element that was given none has the initial
/// one.
struct SlabColumn<Element, Value: Sendable>: Sendable {
    private var values: [Value] = []
    private let initial: Value

    init(_ initial: Value) { self.initial = initial }

    subscript(index: SlabIndex<Element>) -> Value {
        get { Int(index.rawValue) < values.count ? values[Int(index.rawValue)] : initial }
        _modify {
            let place = Int(index.rawValue)
            if place >= values.count {
                values.append(contentsOf: repeatElement(initial, count: place + 1 - values.count))
            }
            yield &values[place]
        }
    }

    mutating func reserveCapacity(_ count: Int) { values.reserveCapacity(count) }
}
