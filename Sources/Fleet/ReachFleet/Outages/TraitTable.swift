internal import ReachCore

/// The traits of all members, numbered, so that counting needs no comparison of text.
struct TraitTable {
    private(set) var traits: [SharedTrait] = []
    /// How many members have each trait.
    private(set) var totals: [Int] = []
    /// The traits of member m are `ids[starts[m]..<starts[m + 1]]`.
    private var ids: [Int] = []
    private var starts = [0]

    init(_ members: [FleetMember], by choice: TraitChoice, systems: ASNTable) {
        var numbers: [SharedTrait: Int] = [:]
        starts.reserveCapacity(members.count + 1)
        for member in members {
            for trait in Self.traits(of: member, systems) where choice.includes(trait) {
                let id = numbers[trait] ?? traits.count
                if id == traits.count {
                    numbers[trait] = id
                    traits.append(trait)
                    totals.append(0)
                }
                totals[id] += 1
                ids.append(id)
            }
            starts.append(ids.count)
        }
    }

    func ids(of member: Int) -> ArraySlice<Int> { ids[starts[member]..<starts[member + 1]] }

    private static func traits(of member: FleetMember, _ systems: ASNTable) -> [SharedTrait] {
        let network = member.address.flatMap(SharedTrait.network(of:))
        var list: [SharedTrait] = [.fleet]
        if let gateway = member.gateway { list.append(.gateway(gateway, behind: network)) }
        if let network { list.append(.network(network)) }
        for (name, value) in member.labels.sorted(by: { $0.key < $1.key }) { list.append(.label(name, value)) }
        if let system = member.address.flatMap(systems.system(of:)) { list.append(.system(system)) }
        if let word = member.linkClass { list.append(.linkClass(word)) }
        return list
    }
}
