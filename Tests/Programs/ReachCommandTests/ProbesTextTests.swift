import ReachControl
import ReachCore
@testable import ReachTerminal
import Testing

@testable import reach

@Suite struct ProbesTextTests {
    private static let now = Timestamp(nanosecondsSince1970: 1_800_000_000_000_000_000)

    private static func report(_ name: String, _ state: ProbeReport.State, beats: [ProbeReport.Beat] = [])
        -> ProbeReport
    {
        let since = Timestamp(nanosecondsSince1970: now.nanosecondsSince1970 - 90_000_000_000)
        var report = ProbeReport(name: name, target: "tcp://a:1", state: state, since: since, interval: .seconds(30))
        report.beats = beats
        return report
    }

    private func text(width: Int?, unicode: Bool = true, colour: Bool = false) -> ProbesText {
        ProbesText(style: TerminalStyle(hasColour: colour), width: width, isUnicode: unicode, now: Self.now)
    }

    private static let beats: [ProbeReport.Beat] =
        (1...8).map { .init(.ok, microseconds: $0 * 1000 - 1) }
        + [.init(.fail), .init(.inconclusive), .init(.paused), .init(.ok, microseconds: 8000)]

    @Test func `without a terminal there is a table and no chart`() {
        var report = Self.report("web", .up, beats: Self.beats)
        report.uptime.ok = .seconds(9995)
        report.uptime.fail = .seconds(5)
        report.latency = ProbeLatency(
            count: 9, median: .microseconds(1234), percentile90: .milliseconds(45), percentile99: .milliseconds(1500))
        report.last = ProbeResult(
            .fail(.refused), detail: "refused\u{1b}[31m",
            started: Instant(wall: Self.now, boot: BootTime(nanoseconds: 0)),
            duration: .zero)
        let lines = text(width: nil).describe([report]).split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[1].hasPrefix("web    up     1 min 30 s  99.95 %  1.23 ms  45.0 ms  1.50 s  refused"))
        #expect(!lines[1].contains("\u{1b}"))
        #expect(text(width: nil).describe([]) == "no probes are configured\n")
    }

    @Test func `groups and losses have a column only where a probe has one`() {
        var report = Self.report("a", .up)
        #expect(text(width: nil).describe([report]).hasPrefix("PROBE  STATE  FOR"))
        report.group = "rack-4"
        var result = ProbeResult(
            .ok, started: Instant(wall: Self.now, boot: BootTime(nanoseconds: 0)), duration: .milliseconds(2))
        let answers = [1, 2, 3].map { Duration.milliseconds($0) }
        result.burst = ProbeBurst(sent: 4, answers: answers)
        report.last = result
        let lines = text(width: nil).describe([report, Self.report("b", .up)]).split(separator: "\n")
        #expect(lines[0].hasPrefix("PROBE  GROUP   STATE") && lines[0].contains("LOST"))
        #expect(lines[1].hasPrefix("a      rack-4  up") && lines[1].contains("25.00 %"))
        let answer = ProbeAnswer(target: "icmp://192.0.2.1", name: nil, result: result)
        let sentence = "1 of 4 lost; 1.00 ms to 3.00 ms, median 2.00 ms, jitter 1.00 ms"
        #expect(ProbeText(style: .plain).describe(answer).contains(sentence))
        report.last?.burst = ProbeBurst(sent: 0, answers: [])
        #expect(!text(width: nil).describe([report]).split(separator: "\n")[1].contains("%"))
    }

    @Test func `a chart has a sign for each result, and the slowest is the highest`() {
        let report = Self.report("web", .up, beats: Self.beats)
        #expect(text(width: 80).chart(report, 80) == "▁▂▃▄▅▆▇█!?┊█")
        #expect(text(width: 80, unicode: false).chart(report, 80).suffix(4) == "!?|#")
        #expect(text(width: 80, colour: true).chart(report, 80).contains("\u{1b}[31m!\u{1b}[0m"))
    }

    @Test(arguments: [5, 10, 20, 40, 80, 300])
    func `a chart fits the width`(_ width: Int) {
        let many = (0..<500).map { ProbeReport.Beat(.ok, microseconds: UInt32($0)) }
        let reports = [Self.report("a-rather-long-name-of-a-probe", .down, beats: many), Self.report("b", .unknown)]
        let lines = text(width: width).describe(reports).split(separator: "\n")
        let charts = lines.filter { $0.contains("█") }
        #expect(charts.count == 1)
        #expect(charts[0].count <= max(width, 5))
        #expect(lines.count >= 4)
    }

    @Test func `durations have three digits that matter`() {
        let texts = [0, 7, 123, 9999, 12_345, 123_456, 1_234_567, 61_000_000].map {
            DurationText.milliseconds(.microseconds($0))
        }
        #expect(texts == ["0.00 ms", "0.00 ms", "0.12 ms", "9.99 ms", "12.3 ms", "123 ms", "1.23 s", "61.00 s"])
        #expect(ProbesText.percent(1) == "100.00 %")
        #expect(ProbesText.percent(0.99999) == "99.99 %")
        #expect(ProbesText.percent(0) == "0.00 %")
    }

    @Test func `an attempt is printed with its phases, and its texts cannot control the terminal`() {
        var result = ProbeResult(
            .ok, started: Instant(wall: Self.now, boot: BootTime(nanoseconds: 0)), duration: .milliseconds(12))
        result.phases = ProbePhases([.connect: .milliseconds(2), .processing: .milliseconds(9)])
        result.httpStatus = 204
        result.certificateEnd = Timestamp(nanosecondsSince1970: Self.now.nanosecondsSince1970 + 864_000_000_000_000)
        let answer = ProbeAnswer(target: "https://a/\u{1b}[2J", name: nil, result: result)
        let printed = ProbeText(style: .plain).describe(answer)
        #expect(!printed.contains("\u{1b}"))
        #expect(printed.contains("ok  12.0 ms  HTTP 204"))
        #expect(printed.contains("connect 2.00 ms, processing 9.00 ms"))
        #expect(printed.contains("certificate good for 10 days, to 2027-01-25"))
        // One that is not valid yet, or another host's.
        let refused = ProbeText(style: .plain).describe(
            ProbeAnswer(target: "https://a/", name: nil, result: result.with(.fail(.certificate))))
        #expect(refused.contains("certificate not accepted, to 2027-01-25") && !refused.contains("good"))
    }
}

extension ProbeResult {
    fileprivate func with(_ outcome: Outcome) -> ProbeResult {
        var result = self
        result.outcome = outcome
        return result
    }
}
