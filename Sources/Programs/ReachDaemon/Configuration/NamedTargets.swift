package import ReachCore

/// The targets that are always watched, and that clients can query by their names, in the configuration's order.
///
/// A name and a target are looked up, not searched: each of thousands of targets asks for its name when it is watched.
package struct NamedTargets: Hashable, Sendable {
    package struct Element: Hashable, Sendable {
        package let name: String
        package let target: Target
    }

    private var elements: [Element] = []
    private var targets: [String: Target] = [:]
    /// The first name of each target.
    private var names: [Target: String] = [:]

    package init() {}

    /// The target of this name.
    package subscript(named name: String) -> Target? { targets[name] }

    /// The name of a target: the first of several.
    package func name(of target: Target) -> String? { names[target] }

    /// Adds a name for a target at the end, or gives it another target.
    mutating func set(_ name: String, to target: Target) {
        if targets[name] != nil {
            elements.removeAll { $0.name == name }
            names = Dictionary(elements.map { ($0.target, $0.name) }) { first, _ in first }
        }
        elements.append(Element(name: name, target: target))
        targets[name] = target
        if names[target] == nil { names[target] = name }
    }
}

extension NamedTargets: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { elements.count }
    package subscript(place: Int) -> Element { elements[place] }
}
