import ReachCore
import ReachFleet
import Testing

@Suite struct EnrolmentPaceTests {
    private static func time(_ seconds: Double) -> BootTime { BootTime(nanoseconds: Int64((1000 + seconds) * 1e9)) }

    @Test func `a host that asks all the time is answered five times and then once a minute, and another always`() {
        var pace = EnrolmentPace(life: .seconds(86_400))
        var (answers, lines) = (0, 0)
        for tenth in 0..<36_000 {
            switch pace.ask("loud", at: Self.time(Double(tenth) / 10)) {
            case .allowed: answers += 1
            case .refused(let isFirst): lines += isFirst ? 1 : 0
            }
            if tenth % 1000 == 0 { #expect(pace.ask("till-\(tenth)", at: Self.time(Double(tenth) / 10)) == .allowed) }
        }
        #expect(answers == 5 + 59 && lines <= answers)
    }

    @Test func `who asked long ago is forgotten`() {
        var pace = EnrolmentPace(life: .seconds(86_400))
        for number in 0..<5000 { #expect(pace.ask("h\(number)", at: Self.time(Double(number))) == .allowed) }
        for _ in 0..<5 { #expect(pace.ask("h1", at: Self.time(6000)) == .allowed) }
        #expect(pace.ask("h1", at: Self.time(6000)) == .refused(isFirst: true))
        #expect(pace.ask("h1", at: Self.time(6001)) == .refused(isFirst: false))
        #expect(pace.ask("h1", at: Self.time(6300)) == .allowed)
    }
}
