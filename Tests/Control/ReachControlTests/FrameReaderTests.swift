import ReachControl
import ReachTesting
import Testing

@Suite struct FrameReaderTests {
    private func frames(_ pieces: [String], limit: Int = 8) throws -> [String] {
        var reader = FrameReader(limit: limit)
        var frames: [String] = []
        for piece in pieces {
            reader.append(Array(piece.utf8))
            while let frame = try reader.next() { frames.append(String(decoding: frame, as: UTF8.self)) }
        }
        return frames
    }

    @Test(arguments: [
        ([], []), ([""], []), (["a"], []), (["a\0"], ["a"]), (["a", "\0"], ["a"]), (["\0"], [""]),
        (["a\0b\0c"], ["a", "b"]), (["a\0b", "c\0", "\0d\0"], ["a", "bc", "", "d"]),
        (["12345678\0"], ["12345678"]), (["1234", "5678", "\0", "1"], ["12345678"]),
    ])
    func `messages end at every NUL`(pieces: [String], expected: [String]) throws {
        #expect(try frames(pieces) == expected)
    }

    @Test(arguments: [["123456789"], ["123456789\0"], ["1234", "56789"], ["a\0123456789"], ["12345678", "9\0"]])
    func `a message over the limit is an error`(pieces: [String]) {
        #expect(throws: FrameReader.TooLong.self) { try frames(pieces) }
    }

    @Test func `messages before one that is too long are returned, and none after it`() throws {
        var reader = FrameReader(limit: 3)
        reader.append(Array("a\0bcde\0f\0".utf8))
        #expect(try reader.next() == Array("a".utf8))
        for _ in 0..<2 { #expect(throws: FrameReader.TooLong.self) { try reader.next() } }
    }

    @Test func `the messages are the same in whatever pieces the bytes arrive`() throws {
        var random = SeededGenerator(seed: 21)
        for _ in 0..<500 {
            let messages = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                random.bytes(Int.random(in: 0...40, using: &random)).map { max(1, $0) }
            }
            let rest = random.bytes(Int.random(in: 0...10, using: &random)).map { max(1, $0) }
            var bytes = messages.flatMap { $0 + [0] } + rest
            var reader = FrameReader(limit: 40)
            var read: [[UInt8]] = []
            while !bytes.isEmpty {
                let count = min(bytes.count, Int.random(in: 1...60, using: &random))
                reader.append(bytes[..<count])
                bytes.removeFirst(count)
                // A reader need not take all available messages at once.
                while !random.oneIn(4), let frame = try reader.next() { read.append(frame) }
            }
            while let frame = try reader.next() { read.append(frame) }
            #expect(read == messages)
            #expect(reader.pendingCount == rest.count)
        }
    }

    @Test func `a large message in small pieces is searched once`() throws {
        var reader = FrameReader()
        let piece = [UInt8](repeating: 0x61, count: 16)
        for _ in 0..<(FrameReader.standardLimit / 16) {
            reader.append(piece)
            #expect(try reader.next() == nil)
        }
        reader.append([0])
        #expect(try reader.next()?.count == FrameReader.standardLimit)
        #expect(reader.pendingCount == 0)
    }
}
