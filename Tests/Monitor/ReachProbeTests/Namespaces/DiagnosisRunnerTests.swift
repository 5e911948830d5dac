import ReachCore
import ReachKernel
import ReachLoop
import ReachProbe
import ReachTesting
import ReachTransfer
import Testing

/// Whole diagnoses, on a line that works and on lines that are broken.
@Suite(.enabled(if: SmallInternet.whyNot == nil, "\(SmallInternet.whyNot ?? "")"), .timeLimit(.minutes(2)))
struct DiagnosisRunnerTests {
    private static let longest = Duration.seconds(10)

    /// - Returns: The diagnosis, and how long it took.
    private static func diagnose(
        _ text: String, in small: SmallInternet
    ) async throws -> (diagnosis: Diagnosis, time: Duration) {
        try small.machine.run("sysctl", "-qw", "net.ipv4.ping_group_range=0 2147483647")
        return try await small.machine.perform {
            let loop = try EventLoop()
            let evidence = DiagnosisEvidence(title: text, target: try DiagnosisDestination.read(text))
            let started = SystemClock.boot
            var found: [Diagnosis] = []
            let runner = DiagnosisRunner(
                evidence, pages: [:], loop: loop, transfers: try TransferEngine(loop: loop),
                snapshot: try KernelSnapshot()
            ) {
                found.append($0)
                loop.stop()
            }
            runner.start()
            loop.run()
            withExtendedLifetime(runner) {}
            return (try #require(found.first), SystemClock.boot - started)
        }
    }

    @Test func `a target that answers is reached, hop by hop`() async throws {
        let small = try SmallInternet()
        let (diagnosis, time) = try await Self.diagnose("http://198.51.100.80/text", in: small)
        #expect(diagnosis.outcome == .ok && diagnosis.blame == nil, "\(diagnosis)")
        let good = Set(diagnosis.steps.filter { $0.finding == .good }.map(\.subject))
        #expect(good.isSuperset(of: [.link, .route, .gateway, .connect, .http]), "\(diagnosis.steps)")
        let timed = diagnosis.steps.first { $0.subject == .connect }
        #expect(timed?.duration.map { $0 > .zero && $0 < .seconds(1) } == true)
        #expect(time < Self.longest)
    }

    @Test func `a router that passes nothing on is found within the limit of the whole`() async throws {
        let small = try SmallInternet()
        try small.goDark()
        let (diagnosis, time) = try await Self.diagnose("http://198.51.100.80/text", in: small)
        #expect(diagnosis.outcome == .failed, "\(diagnosis)")
        #expect(diagnosis.steps.contains { $0.subject == .gateway && $0.finding == .good })
        #expect(diagnosis.steps.contains { $0.subject == .connect && $0.finding == .bad })
        #expect(time < Self.longest)
    }

    @Test func `without a link nothing is sent, and the link is named`() async throws {
        let small = try SmallInternet()
        try small.machine.run("ip", "link", "set", "up0", "down")
        let (diagnosis, _) = try await Self.diagnose("http://198.51.100.80/text", in: small)
        #expect(diagnosis.outcome == .failed)
        #expect(diagnosis.steps.contains { $0.finding == .bad && $0.text.contains("up0") }, "\(diagnosis.steps)")
    }
}
