import ReachCore
import Testing

@testable import ReachProbe

@Suite struct EchoMessageTests {
    private static let message = EchoMessage(sequence: 0x0102, payload: [7, 8, 9])

    @Test(arguments: [(IPAddress.Family.ipv4, 8, 0), (.ipv6, 128, 129)] as [(IPAddress.Family, UInt8, UInt8)])
    func `a request is answered by its own reply alone`(family: IPAddress.Family, request: UInt8, reply: UInt8) {
        #expect(Self.message.request(family) == [request, 0, 0, 0, 0, 0, 1, 2, 7, 8, 9])
        let answer: [UInt8] = [reply, 0, 5, 5, 5, 5, 1, 2, 7, 8, 9]
        #expect(Self.message.isAnswered(by: answer, family))
        #expect(EchoMessage.sequence(ofReply: answer, family) == 0x0102)
        // Another type, code or number, and another payload, also one that is cut.
        for (place, byte) in [(0, request), (0, 3), (1, 1), (6, 0), (7, 3), (8, 0), (10, 8)] as [(Int, UInt8)] {
            var other = answer
            other[place] = byte
            #expect(!Self.message.isAnswered(by: other, family), "\(place)")
            #expect((EchoMessage.sequence(ofReply: other, family) == nil) == (place < 2))
        }
        for count in 0..<answer.count {
            #expect(!Self.message.isAnswered(by: Array(answer.prefix(count)), family), "\(count)")
            #expect((EchoMessage.sequence(ofReply: Array(answer.prefix(count)), family) == nil) == (count < 8))
        }
    }

    @Test func `nobody can guess the payload of a request`() {
        let messages = (0..<100).map { EchoMessage.unguessable($0) }
        #expect(Set(messages.map(\.payload)).count == 100)
        #expect(messages.allSatisfy { $0.payload.count == EchoMessage.payloadCount })
        #expect(messages.map(\.sequence) == Array(0..<100))
    }
}
