import ReachFleet
import Testing

@Suite struct FleetNamesTests {
    @Test(arguments: ["", "a.b", "a*", "a>", "a b", "ä", "a\n", String(repeating: "a", count: 65)])
    func `a host's identity is one token of a subject`(_ host: String) {
        #expect(!FleetNames.hostIsValid(host))
    }

    @Test func `a host's identity may have 64 letters, digits, hyphens and underscores`() {
        #expect(FleetNames.hostIsValid(String(repeating: "a", count: 62) + "-_"))
    }
}
