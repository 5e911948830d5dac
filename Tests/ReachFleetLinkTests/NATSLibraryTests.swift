import ReachFleetLink
import Testing

@Suite struct NATSLibraryTests {
    @Test func `the library says its version`() { #expect(NATSLibrary.version.hasPrefix("3.")) }
}
