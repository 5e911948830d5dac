import ReachCore
import ReachLoop
import ReachQueue
import ReachTesting
import Testing

@testable import ReachControl

@Suite struct JournalLineTests {
    private static let log = "0123456789abcdef0123456789abcdef"

    private static func event(_ user: UInt32) -> [UInt8] {
        var event = QueueEvent(.done, at: .second(7), epoch: 1)
        event.request = RequestID(rawValue: 3)
        event.owner = user
        return JournalEvents.encode(.queue(event), boot: "b")
    }

    private static func line(_ number: Int64, outbox: Int64? = nil) -> ArraySlice<UInt8> {
        JournalLine.encode(event(1000), log: log, number: number, outbox: outbox).dropLast()
    }

    @Test(arguments: [(1, nil), (7, 1), (999_999_999_999, 88), (2, Int64.max / 10)] as [(Int64, Int64?)])
    func `a line has number, row and event as they were written`(number: Int64, outbox: Int64?) throws {
        let line = try #require(JournalLine(Self.line(number, outbox: outbox)))
        #expect(line.log == Self.log && line.number == number && line.outbox == outbox && line.type == "queue")
        #expect(line.bare == Self.event(1000))
        let text = String(decoding: line.event, as: UTF8.self)
        #expect(text.hasPrefix("{\"log\":\"\(Self.log)\",\"n\":\(number),\"v\":1,\"type\":\"queue\",\"time\":\"2026-"))
        #expect(text.hasSuffix("\"id\":3,\"user\":1000,\"boot\":\"b\"}"))
        let record = try JournalRecord(reading: JSONReader.read(line.event))
        #expect(record.log == Self.log && record.number == number && record.boot == "b" && record.moment == .second(7))
    }

    @Test func `no part of a line is a line, and no line with another byte`() {
        let line = Self.line(12, outbox: 5)
        for count in 0..<line.count { #expect(JournalLine(line.prefix(count)) == nil) }
        for index in line.indices {
            var other = line
            other[index] ^= 1
            #expect(JournalLine(other) == nil, "\(index)")
        }
    }

    @Test func `any bytes are read as a line or as none`() {
        var random = SeededGenerator(seed: 5)
        let whole = Self.line(12, outbox: 5)
        for _ in 0..<5000 {
            var bytes = random.oneIn(2) ? Array(whole) : random.bytes(random.pick([0, 1, 18, 19, 60, 200]))
            for _ in 0..<random.pick([0, 1, 4]) where !bytes.isEmpty {
                bytes[random.pick(Array(bytes.indices))] = random.pick(Array("{}\",:\\0a".utf8) + [0, 255])
            }
            if let line = JournalLine(bytes[...]) {
                _ = (line.bare, line.type, line.gap, line.isVisible(to: 1))
            }
            _ = JournalLine.head(of: bytes[...])
            _ = JournalHead(bytes)
        }
    }

    @Test(arguments: [(nil, true), (1000, true), (1001, false)] as [(UInt32?, Bool)])
    func `events of a request are its owner's`(user: UInt32?, isVisible: Bool) throws {
        #expect(try #require(JournalLine(Self.line(1))).isVisible(to: user) == isVisible)
    }

    @Test func `events that concern no request are visible to all, and those of the whole queue to root`() throws {
        let started = JournalEvents.started(at: .second(1), lastSeen: nil, boot: "b")
        let whole = JournalEvents.encode(.queue(QueueEvent(.degraded, at: .second(1), epoch: 1)), boot: "b")
        func line(_ event: [UInt8]) throws -> JournalLine {
            try #require(JournalLine(JournalLine.encode(event, log: Self.log, number: 1).dropLast()))
        }
        #expect(try line(started).isVisible(to: 5))
        #expect(try !line(whole).isVisible(to: 5))
        #expect(try line(whole).isVisible(to: nil))
    }

    @Test func `a gap stands for its numbers`() throws {
        let gap = JournalGap(.refused, 3...9).event(at: .second(1), boot: "b")
        let line = try #require(JournalLine(JournalLine.encode(gap, log: Self.log, number: 9).dropLast()))
        #expect(line.gap == 3...9)
        let record = try JournalRecord(reading: JSONReader.read(line.event))
        #expect(record.missing == 3...9 && record.json["count"]?.integer == 7)
        let unknown = JournalGap(.log).event(at: .second(1), boot: "b")
        let other = try JournalRecord(
            reading: JSONReader.read(JournalLine.event(unknown, log: Self.log, number: 0)))
        #expect(other.missing == nil && other.number == 0)
    }

    @Test func `an event of a stream loses nothing but its number there`() throws {
        let event = EncodedEvent.wake(slept: .seconds(3), at: .second(1))
        var stream = EventStream(source: .daemon)
        guard case .object(var members) = try JSONReader.read(stream.line(event)) else { return }
        members["seq"] = nil
        members["boot"] = .string("b")
        #expect(try JSONReader.read(JournalEvents.encode(event, boot: "b")) == .object(members))
    }

    @Test(
        arguments: [
            ("b", false, 5, "b", true), ("b", false, 9, "b", true), ("b", false, 4, "b", false),
            ("b", false, 9, "c", false), ("b", true, 5, "c", true), ("b", true, 6, "b", false),
            ("b", true, 4, "c", false),
        ] as [(String, Bool, Int64, String, Bool)])
    func `files continue a head unless they may lack what was read`(
        boot: String, isClosed: Bool, last: Int64, nextBoot: String, isContinued: Bool
    ) throws {
        let head = JournalHead(log: Self.log, last: 5, boot: boot, isClosed: isClosed)
        #expect(JournalHead(head.bytes) == head)
        #expect(head.isContinued(by: Self.log, last: last, boot: nextBoot) == isContinued)
        #expect(!head.isContinued(by: "other", last: last, boot: nextBoot))
    }
}
