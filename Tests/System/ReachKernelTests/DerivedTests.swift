internal import ReachCore
@testable internal import ReachKernel
internal import Testing

/// What is derived from what a view knows: each input is changed once, and the value follows.
@Suite struct DerivedTests {
    @Test func `a value is of one generation, and empty in the next`() {
        var names = Derived<Set<String>>([])
        names[1].insert("a")
        names[1].insert("b")
        #expect(names[1] == ["a", "b"])
        #expect(names[2].isEmpty)
        names[2].insert("c")
        #expect(names[2] == ["c"] && names[1].isEmpty)
    }

    /// What has another generation after a part has changed.
    @Test(arguments: [
        (ViewAge.Part.links, [true, true, true, false, false, false]),
        (.networks, [true, true, false, false, false, false]),
        (.routes, [false, true, true, false, false, false]),
        (.rules, [false, false, false, true, false, false]),
        (.throwRoutes, [false, false, false, false, true, false]),
        (.reports, [false, false, false, false, true, true]),
    ])
    func `what rests on a part gets another age with it`(_ part: ViewAge.Part, _ expected: [Bool]) {
        var age = ViewAge()
        let before = Self.generations(age)
        age.raise(part)
        #expect(zip(before, Self.generations(age)).map { $0 != $1 } == expected)
    }

    @Test func `what was read from the beginning is older than nothing`() {
        var age = ViewAge()
        let before = Self.generations(age)
        age.raiseAll()
        #expect(zip(before, Self.generations(age)).allSatisfy { $0 < $1 })
    }

    private static func generations(_ age: ViewAge) -> [Int] {
        [age.conditions, age.routedConditions, age.carriers, age.rules, age.throwRoutes, age.reports]
    }

    // MARK: - Traits

    @Test(arguments: ["name", "kind", "type", "removed", "flags"])
    func `traits are read again once a link is another device`(_ change: String) {
        var link = Link(index: 7, name: "reach-none")
        var devices = DeviceTraits()
        let reads = (devices.read([7], among: [7: link]), devices.read([7], among: [7: link]))
        #expect(reads == (true, false), "they are known from then on")
        let earlier = link
        switch change {
        case "name": link.name = "reach-other"
        case "kind": link.kind = "dummy"
        case "type": link.hardwareType = 519
        default: link.flags = [.up]
        }
        devices.follow(7, from: earlier, to: change == "removed" ? nil : link)
        let isReadAgain = devices.read([7], among: [7: link])
        #expect(isReadAgain == (change != "flags"))
    }

    @Test func `traits of links that another table has not, or otherwise, are read again`() {
        let links = (7...9).map { Link(index: $0, name: "reach\($0)") }
        let before = Dictionary(uniqueKeysWithValues: links.map { ($0.index, $0) })
        var devices = DeviceTraits()
        _ = devices.read(before.keys, among: before)
        var after = before
        after[8] = nil
        after[9]?.name = "reach-other"
        devices.follow(from: before, to: after)
        let known = Set(devices.known.keys)
        #expect(known == [7])
    }
}
