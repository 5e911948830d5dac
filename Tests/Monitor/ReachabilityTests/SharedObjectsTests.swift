import Testing

@testable import Reachability

@Suite struct SharedObjectsTests {
    private final class Object: Sendable {}

    @Test func `users of one key share an object until the last has left, and the next gets another`() {
        let objects = SharedObjects<String, Object>()
        let first = objects.join("a") { Object() }
        #expect(objects.join("a") { Object() } === first && objects.count == 1)
        #expect(objects.join("b") { Object() } !== first && objects.count == 2)
        #expect(objects.leave("a") == nil && objects.join("a") { Object() } === first)
        #expect(objects.leave("a") == nil && objects.leave("a") === first && objects.count == 1)
        #expect(objects.join("a") { Object() } !== first)
        #expect(objects.leave("c") == nil)
    }
}
