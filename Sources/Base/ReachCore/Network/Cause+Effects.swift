extension Cause {
    /// The weightiest cause that affects one of these interfaces; otherwise the weightiest of all.
    package static func weightiest(of effects: [NetworkTable.Effect], touching interfaces: [InterfaceIndex]) -> Cause? {
        if effects.count == 1 { return effects[0].cause }
        let near = effects.filter { effect in effect.interface.map(interfaces.contains) ?? true }
        return (near.isEmpty ? effects : near).map(\.cause).min { $0.weight < $1.weight }
    }

    private var weight: Int { Self.weights[self] ?? .max }

    private static let weights = Dictionary(
        uniqueKeysWithValues: allCases.enumerated().map { ($0.element, $0.offset) })
}
