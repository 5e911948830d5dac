import Testing

@testable import ReachControl

@Suite struct CallGateTests {
    @Test func `calls of a user up to the limit pass at once, and the others later in order`() {
        var gate = CallGate<Int>(limit: 2)
        let begun = (1...5).map { gate.admit($0, of: 1) }
        #expect(begun == [true, true, false, false, false])
        let other = gate.admit(9, of: 2)
        #expect(other)
        let next = (0..<5).map { _ in gate.finish(of: 1) }
        #expect(next == [3, 4, 5, nil, nil])
        let again = gate.admit(6, of: 1)
        #expect(again)
    }
}
