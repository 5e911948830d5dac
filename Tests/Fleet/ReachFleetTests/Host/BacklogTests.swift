import ReachCore
import ReachFleet
import Testing

/// What a host sends that has been away for long.
@Suite struct BacklogTests {
    private static let now = Instant(
        wall: Timestamp(nanosecondsSince1970: 1_795_000_000_000_000_000), boot: .init(nanoseconds: 1_000_000_000))

    private static func page(_ numbers: ClosedRange<Int>, of last: Int) -> EntryPage {
        let entries = numbers.map { n in
            JournalEntry(
                log: "l", n: UInt64(n), boot: "b", moment: now, line: [UInt8](repeating: UInt8(ascii: "x"), count: 400))
        }
        return EntryPage(
            entries, newest: JournalCursor(log: "l", n: UInt64(last)), isComplete: numbers.upperBound == last)
    }

    /// - Parameter answer: How long the engine takes to acknowledge a chunk.
    private static func chunks(of count: Int, answer: Duration) -> [EventChunk] {
        var now = now
        var machine = FleetMachine(FleetMachine.Settings(host: "till-1", boot: "b"), seed: 7)
        var inputs: [FleetMachine.Input] = [.start]
        var chunks: [EventChunk] = []
        var (read, isOpen) = (0, false)
        while let input = inputs.popLast() {
            for action in machine.handle(input, at: now) {
                switch action {
                case .connect: inputs.append(.connected(.init(start: "s")))
                case .readTail(let number): inputs.append(.tail(number, .none))
                case .publish(let number, let chunk, _):
                    chunks.append(chunk)
                    now = Instant(wall: now.wall, boot: now.boot + answer)
                    inputs.append(.published(number, .stored(sequence: UInt64(chunks.count), isDuplicate: false)))
                case .openJournal: isOpen = true
                default: break
                }
            }
            // The journal is read before an answer comes.
            if isOpen, read < count, machine.wantsJournal {
                let next = read + 1...min(read + 500, count)
                read = next.upperBound
                inputs.append(.journal(page(next, of: count)))
            }
        }
        return chunks
    }

    /// Each chunk costs a round trip: at 50 ms, 4,320 events have to be there in 5 s.
    @Test func `a backlog goes in few chunks, each of which the stream accepts`() {
        let chunks = Self.chunks(of: 4320, answer: .milliseconds(50))
        #expect(chunks.last?.last == 4320)
        #expect(chunks.count <= 16, "\(chunks.map(\.lines.count))")
        for chunk in chunks {
            let headers = chunk.headers(expecting: .max).reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
            #expect(chunk.payload.count + headers <= EventChunk.sizeLimit - 1024)
        }
    }

    @Test func `over a slow path chunks stay small, so that the lease is not late`() {
        let chunks = Self.chunks(of: 4320, answer: .seconds(5))
        #expect(chunks.last?.last == 4320)
        #expect(chunks.allSatisfy { $0.payload.count <= 64 << 10 })
    }
}
