import ReachCore

/// A probe that is down, with a value in every part of its report.
enum ProbeSample {
    static let moment = Instant(
        wall: Timestamp(nanosecondsSince1970: 1_800_000_000_123_456_000), boot: BootTime(nanoseconds: 93_600))

    static var result: ProbeResult {
        var result = ProbeResult(
            .fail(.status), detail: "HTTP 503, expected 2xx", started: moment, duration: .microseconds(12_345))
        result.phases = ProbePhases([.resolve: .microseconds(100), .connect: .microseconds(200), .processing: .zero])
        result.address = IPAddress("2001:db8::1")
        result.interface = "eth0"
        result.httpStatus = 503
        result.certificateEnd = Timestamp(nanosecondsSince1970: 1_800_864_000_000_000_000)
        result.burst = ProbeBurst(sent: 3, answers: [.milliseconds(2), .milliseconds(1)])
        return result
    }

    static var report: ProbeReport {
        var report = ProbeReport(
            name: "web", target: "https://example.net/", state: .down, since: moment.wall, interval: .seconds(30))
        report.group = "shops"
        report.pause = .linkClass
        report.next = moment.wall
        report.last = result
        report.uptime.ok = .seconds(3)
        report.uptime.fail = .seconds(1)
        report.uptime.paused = .milliseconds(7)
        report.uptime.inconclusive = .milliseconds(8)
        report.latency = ProbeLatency(
            count: 9, median: .microseconds(1), percentile90: .microseconds(2), percentile99: .microseconds(3))
        report.beats = [
            .init(.ok, microseconds: 5), .init(.fail, microseconds: .max), .init(.inconclusive), .init(.paused),
        ]
        return report
    }
}
