internal import ReachCore
@testable internal import ReachKernel
internal import Testing

/// The links on which paths rest, which changes touch them, and how often the links below are asked for.
@Suite struct PathSupportTests {
    /// The links below, the same for all, and the questions for them.
    private final class Below {
        var ports: Set<InterfaceIndex>? = []
        var questions: [Set<InterfaceIndex>] = []

        func find(_ links: Set<InterfaceIndex>) -> Set<InterfaceIndex>? {
            questions.append(links)
            return ports.map(links.union)
        }
    }

    private var links = SupportingLinks()
    private let below = Below()

    private mutating func all() -> Set<InterfaceIndex>? { links.all(below.find) }

    private mutating func isTouched(by notice: Notice, _ cause: Cause, on interface: InterfaceIndex?) -> Bool {
        links.mayBeTouched(by: notice, NetworkTable.Effect(cause: cause, interface: interface), below.find)
    }

    private static func removal(_ text: String, on index: InterfaceIndex) throws -> Notice {
        let address = try #require(IPAddress(text))
        return .addressRemoved(
            InterfaceAddress(interface: index, address: address, prefixLength: 24, scope: 0, flags: []))
    }

    @Test mutating func `the links below are found once for an evaluation, and again for the next`() {
        below.ports = [1]
        links = SupportingLinks(PathSupport(links: [3], connected: [5]))
        #expect(all() == [1, 3, 5])
        #expect(all() == [1, 3, 5] && below.questions == [[3, 5]])
        links = SupportingLinks(PathSupport(links: [4]))
        #expect(all() == [1, 4])
        links = SupportingLinks(nil)
        #expect(all() == nil && below.questions.count == 2)
    }

    @Test mutating func `a change touches a path by its links and by the address that it sends from`() throws {
        let source = try #require(IPAddress("192.0.2.2"))
        links = SupportingLinks(PathSupport(links: [3], connected: [5], sources: [source]))
        let other = try Self.removal("198.51.100.2", on: 5)
        #expect(!isTouched(by: other, .addressRemoved, on: 5), "no path is by this link")
        #expect(isTouched(by: try Self.removal("192.0.2.2", on: 5), .addressRemoved, on: 5), "a path has it as source")
        #expect(isTouched(by: other, .addressRemoved, on: 3))
        #expect(isTouched(by: other, .addressRemoved, on: nil))
    }

    @Test mutating func `a port that joins the bridge of a path counts from that notice on`() {
        links = SupportingLinks(PathSupport(links: [3]))
        var port = Link(index: 7, name: "c7")
        for _ in 0..<20 { #expect(!isTouched(by: .link(port), .linkAdded, on: 7)) }
        #expect(below.questions.count == 1)
        port.controller = 3
        below.ports = [7]
        for _ in 0..<20 { #expect(isTouched(by: .link(port), .linkChanged, on: 7)) }
        #expect(below.questions.count == 2)
    }

    @Test mutating func `each change may touch a route that someone looks up, and what cannot be known`() {
        let notice = Notice.linkRemoved(9)
        links = SupportingLinks(PathSupport(links: [3]))
        #expect(!isTouched(by: notice, .linkRemoved, on: 9))
        links = SupportingLinks(PathSupport(links: [3], hasRouteWatches: true))
        #expect(isTouched(by: notice, .linkRemoved, on: 9))
        links = SupportingLinks(nil)
        #expect(isTouched(by: notice, .linkRemoved, on: 9))
        links = SupportingLinks(PathSupport(links: [3]))
        below.ports = nil
        #expect(isTouched(by: notice, .linkRemoved, on: 9))
    }
}
