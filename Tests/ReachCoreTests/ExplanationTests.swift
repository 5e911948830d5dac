import ReachCore
import Testing

private typealias Scene = ExplanationScene

@Suite struct ExplanationTests {
    @Test(arguments: ExplanationRow.all)
    func `the step is told`(_ row: ExplanationRow) {
        let explanation = row.scene.explanation
        let steps = explanation.ipv4.steps + explanation.ipv6.steps
        let told = steps.filter { $0.subject == row.subject }
        #expect(told.contains { $0.finding == row.finding && $0.text.contains(row.text) }, "told: \(steps.map(\.text))")
    }

    @Test(arguments: ExplanationRow.all)
    func `the last step is the verdict, and agrees with the path`(_ row: ExplanationRow) {
        let explanation = row.scene.explanation
        for family in [explanation.ipv4, explanation.ipv6] where family.path.reason != .notAsked {
            #expect(family.steps.last?.subject == .verdict)
            #expect((family.steps.last?.finding == .good) == (family.path.status == .reachable))
        }
    }

    @Test(arguments: ExplanationRow.all)
    func `what is not reachable has a bad finding before the verdict`(_ row: ExplanationRow) {
        let explanation = row.scene.explanation
        for family in [explanation.ipv4, explanation.ipv6] where family.path.status == .notReachable {
            #expect(family.steps.dropLast().contains { $0.finding == .bad && $0.subject != .target })
        }
    }

    @Test func `a name comes with its resolution first`() throws {
        let scene = try Scene.route().with {
            $0.target = try Target("www.example.org")
            $0.resolution = .addresses([Scene.anchor])
        }
        #expect(scene.explanation.ipv4.steps.first?.text == "www.example.org resolves to 198.41.0.4.")
        #expect(scene.explanation.ipv6.steps.map(\.subject) == [.name])
    }

    @Test func `a name without addresses is told of alike in both families`() throws {
        let scene = try Scene().with {
            $0.target = try Target("www.example.org")
            $0.resolution = .noAddress
        }
        #expect(scene.explanation.ipv4.steps == scene.explanation.ipv6.steps)
        #expect(scene.explanation.ipv4.steps.map(\.finding) == [.bad, .bad])
    }

    @Test func `a prefix says which address stands for it`() throws {
        let scene = try Scene.route().with { $0.target = try Target("198.41.0.0/24") }
        #expect(scene.explanation.ipv4.steps.first?.text == "198.41.0.1, its first host, stands for 198.41.0.0/24.")
    }

    @Test func `an interface is looked at without a route`() throws {
        let scene = try Scene().with { $0.target = try Target("interface:eth0") }
        #expect(scene.explanation.ipv4.steps.map(\.subject) == [.link, .source, .verdict])
        #expect(scene.explanation.ipv4.steps.last?.text == "So eth0 can carry IPv4 packets.")
    }
}
