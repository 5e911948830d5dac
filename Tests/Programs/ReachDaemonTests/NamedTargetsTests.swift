import ReachCore
import Testing

@testable import ReachDaemon

@Suite struct NamedTargetsTests {
    private func target(_ text: String) throws -> Target { try Target(text) }

    @Test func `a name and a target find each other, and the first of several names counts`() throws {
        var targets = NamedTargets()
        targets.set("first", to: try target("192.0.2.1"))
        targets.set("second", to: try target("192.0.2.1"))
        #expect(targets.map(\.name) == ["first", "second"])
        let (known, other) = (try target("192.0.2.1"), try target("192.0.2.2"))
        #expect(targets[named: "second"] == known && targets[named: "third"] == nil)
        #expect(targets.name(of: known) == "first" && targets.name(of: other) == nil)
    }

    @Test func `a later file gives a name to another target, and the old one keeps its other name`() throws {
        var targets = NamedTargets()
        targets.set("first", to: try target("192.0.2.1"))
        targets.set("second", to: try target("192.0.2.1"))
        targets.set("first", to: try target("192.0.2.2"))
        #expect(targets.map(\.name) == ["second", "first"])
        let names = try ["192.0.2.1", "192.0.2.2"].map { targets.name(of: try target($0)) }
        #expect(names == ["second", "first"])
    }
}
