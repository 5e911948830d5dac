import ReachCore
import ReachProbe
import Testing

@Suite struct ProbeJudgeTests {
    private static let moment = Instant(
        wall: Timestamp(nanosecondsSince1970: 1_800_000_000_000_000_000), boot: BootTime(nanoseconds: 1))

    private static func observation(_ ending: ProbeObservation.Ending = .answered) -> ProbeObservation {
        ProbeObservation(ending, started: moment, duration: .milliseconds(100))
    }

    private static var answer: ProbeObservation {
        var seen = observation()
        seen.httpStatus = 200
        seen.headers = [.init("Content-Type", "text/html; charset=utf-8")]
        seen.body = Array("<html>all is well</html>".utf8)
        seen.certificateEnd = Timestamp(
            nanosecondsSince1970: moment.wall.nanosecondsSince1970 + 20 * 86_400_000_000_000)
        return seen
    }

    private static func outcome(
        _ observation: ProbeObservation, _ evidence: PathContinuity = .same,
        _ change: (inout ExpectedAnswer) -> Void = { _ in }
    ) -> ProbeResult.Outcome {
        var conditions = ExpectedAnswer()
        change(&conditions)
        return ProbeJudge.result(of: observation, conditions, evidence: evidence).outcome
    }

    @Test func `a router that has no way for the packets is no lack of a path of this machine`() {
        let unreachable = Self.observation(.doubtful(.noPath, "connect: Network is unreachable"))
        #expect(Self.outcome(unreachable) == .inconclusive(.noPath))
        let byRouter = ProbeJudge.result(of: unreachable, .init(), evidence: .same) { _ in true }
        #expect(byRouter.outcome == .fail(.unreachable))
        let meanwhile = ProbeJudge.result(of: unreachable, .init(), evidence: .changed) { _ in true }
        #expect(meanwhile.outcome == .inconclusive(.pathChanged), "the path here may be the one that broke")
    }

    @Test func `an answer must meet each condition`() {
        #expect(Self.outcome(Self.answer) == .ok)
        #expect(Self.outcome(Self.answer) { $0.status = HTTPStatusSet("204") ?? .success } == .fail(.status))
        #expect(Self.outcome(Self.answer) { $0.header = .init("content-type: html") } == .ok)
        #expect(Self.outcome(Self.answer) { $0.header = .init("content-type: json") } == .fail(.header))
        #expect(Self.outcome(Self.answer) { $0.header = .init("x-other") } == .fail(.header))
        #expect(Self.outcome(Self.answer) { $0.bodyContains = "all is" } == .ok)
        #expect(Self.outcome(Self.answer) { $0.bodyContains = "ill" } == .fail(.body))
        #expect(Self.outcome(Self.answer) { $0.bodyPrefix = "<html>" } == .ok)
        #expect(Self.outcome(Self.answer) { $0.bodyPrefix = "html>" } == .fail(.body))
        #expect(Self.outcome(Self.answer) { $0.certificateDays = 20 } == .ok)
        #expect(Self.outcome(Self.answer) { $0.certificateDays = 21 } == .fail(.certificateEnding))
        #expect(Self.outcome(Self.answer) { $0.latency = .milliseconds(100) } == .ok)
        #expect(Self.outcome(Self.answer) { $0.latency = .milliseconds(99) } == .fail(.latency))
    }

    @Test func `a body is checked as JSON, and one that is none fails`() throws {
        let (good, bad) = (try JSONCondition("$.status == 'ok'"), try JSONCondition("$.load < 2"))
        var seen = Self.answer
        seen.body = Array(#"{"status":"ok","load":3.5}"#.utf8)
        #expect(Self.outcome(seen) { $0.json = [good] } == .ok)
        #expect(Self.outcome(seen) { $0.json = [good, bad] } == .fail(.body))
        var expected = ExpectedAnswer()
        expected.json = [good, bad]
        #expect(expected.needsBody)
        let detail = ProbeJudge.result(of: seen, expected, evidence: .same).detail
        #expect(detail == "$.load is 3.5; expected < 2")
        for text in ["<html>", "", #"{"status":"ok""#, "[" + String(repeating: "1,", count: 100_000) + "1]"] {
            seen.body = Array(text.utf8)
            let result = ProbeJudge.result(of: seen, expected, evidence: .same)
            #expect(
                result.outcome == .fail(.body) && result.detail.hasPrefix("the body is not JSON: byte "), "\(result)")
        }
    }

    @Test func `a burst fails by its loss only above the limit, and says nothing about the Internet then`() throws {
        var seen = Self.observation()
        seen.burst = ProbeBurst(sent: 20, answers: Array(repeating: .milliseconds(3), count: 18))
        #expect(Self.outcome(seen) == .ok)
        #expect(Self.outcome(seen) { $0.lossPercent = 10 } == .ok)
        #expect(Self.outcome(seen) { $0.lossPercent = 9 } == .fail(.loss))
        let result = ProbeResult(.fail(.loss), started: Self.moment, duration: .zero)
        #expect(try !result.suggestsOutage(for: ProbeTarget("icmp://198.51.100.7")))
    }

    @Test func `a name server's answer is checked by its code and its records`() {
        var seen = Self.observation()
        seen.responseCode = 0
        seen.answers = ["192.0.2.80", "192.0.2.81"]
        #expect(Self.outcome(seen) == .ok)
        #expect(Self.outcome(seen) { $0.answers = ["192.0.2.99", "192.0.2.81"] } == .ok)
        #expect(Self.outcome(seen) { $0.answers = ["192.0.2.99"] } == .fail(.answer))
        #expect(Self.outcome(seen) { $0.responseCode = .noSuchName } == .fail(.responseCode))
        seen.answers = []
        #expect(Self.outcome(seen) == .fail(.answer))
        seen.responseCode = 3
        #expect(Self.outcome(seen) == .fail(.responseCode))
        #expect(Self.outcome(seen) { $0.responseCode = .noSuchName } == .ok)
    }

    @Test(arguments: [
        (PathContinuity.lost, ProbeDoubt.pathLost), (.changed, .pathChanged), (.slept, .slept),
    ])
    func `an attempt proves nothing if the path went away or changed, however it ended`(
        _ evidence: PathContinuity, _ doubt: ProbeDoubt
    ) throws {
        for seen in [Self.answer, Self.observation(.failed(.timeout, "")), Self.observation(.doubtful(.noPath, ""))] {
            #expect(Self.outcome(seen, evidence) == .inconclusive(doubt))
        }
        var specification = ProbeSpecification(name: "web", target: try ProbeTarget("http://192.0.2.1/"))
        specification.thresholds = .init(down: 2, up: 1)
        var record = ProbeRecord(specification, at: Self.moment)
        let fail = Self.observation(.failed(.timeout, ""))
        _ = record.add(ProbeJudge.result(of: fail, .init(), evidence: .same), at: Self.moment)
        #expect(record.add(ProbeJudge.result(of: fail, .init(), evidence: evidence), at: Self.moment) == nil)
        #expect(record.state == .unknown)
        #expect(record.add(ProbeJudge.result(of: fail, .init(), evidence: .same), at: Self.moment) == .down)
    }

    @Test func `a failed or doubtful attempt keeps its reason`() {
        #expect(Self.outcome(Self.observation(.failed(.refused, ""))) == .fail(.refused))
        #expect(Self.outcome(Self.observation(.doubtful(.noPath, ""))) == .inconclusive(.noPath))
    }

    @Test func `days left on a certificate are whole, and negative once it has ended`() {
        var result = ProbeResult(.ok, started: Self.moment, duration: .zero)
        for (hours, days) in [(49, 2), (24, 1), (23, 0), (0, 0), (-1, -1), (-24, -1), (-25, -2)] {
            result.certificateEnd = Timestamp(
                nanosecondsSince1970: Self.moment.wall.nanosecondsSince1970 + Int64(hours) * 3_600_000_000_000)
            #expect(result.certificateDays == days)
        }
    }
}
