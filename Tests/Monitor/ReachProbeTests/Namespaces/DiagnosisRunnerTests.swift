import ReachCore
import ReachKernel
import ReachLoop
import ReachTesting
import ReachTransfer
import Testing

@testable import ReachProbe
import ReachRecords

/// Whole diagnoses, on a line that works and on lines that are broken.
@Suite(.enabled(if: SmallInternet.whyNot == nil, "\(SmallInternet.whyNot ?? "")"), .timeLimit(.minutes(2)))
struct DiagnosisRunnerTests {
    private static let longest = Duration.seconds(10)

    private static var pages: [DiagnosisDestination: ConnectivityEndpoint] {
        get throws {
            let address = SmallInternet.address
            return [
                try #require(try DiagnosisDestination.read(address)): try #require(ConnectivityEndpoint(address))
            ]
        }
    }

    /// - Returns: The diagnosis, and how long it took.
    private static func diagnose(
        _ text: String, in machine: TestNamespace, _ change: @escaping @Sendable (DiagnosisRunner) -> Void = { _ in }
    ) async throws -> (diagnosis: Diagnosis, time: Duration) {
        try machine.run("sysctl", "-qw", "net.ipv4.ping_group_range=0 2147483647")
        return try await machine.perform {
            let loop = try EventLoop()
            let evidence = DiagnosisEvidence(title: text, target: try DiagnosisDestination.read(text))
            let started = SystemClock.boot
            var found: [Diagnosis] = []
            let runner = DiagnosisRunner(
                evidence, pages: try Self.pages, loop: loop, transfers: try TransferEngine(loop: loop),
                snapshot: try KernelSnapshot()
            ) {
                found.append($0)
                loop.stop()
            }
            change(runner)
            runner.start()
            loop.run()
            withExtendedLifetime(runner) {}
            return (try #require(found.first), SystemClock.boot - started)
        }
    }

    @Test func `a target that answers is reached, hop by hop`() async throws {
        let small = try SmallInternet()
        let (diagnosis, time) = try await Self.diagnose("http://198.51.100.80/text", in: small.machine)
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
        let (diagnosis, time) = try await Self.diagnose("http://198.51.100.80/text", in: small.machine)
        #expect(diagnosis.outcome == .failed, "\(diagnosis)")
        #expect(diagnosis.steps.contains { $0.subject == .gateway && $0.finding == .good })
        #expect(diagnosis.steps.contains { $0.subject == .connect && $0.finding == .bad })
        #expect(time < Self.longest)
    }

    @Test func `without a link nothing is sent, and the link is named`() async throws {
        let small = try SmallInternet()
        try small.machine.run("ip", "link", "set", "up0", "down")
        let (diagnosis, _) = try await Self.diagnose("http://198.51.100.80/text", in: small.machine)
        #expect(diagnosis.outcome == .failed)
        #expect(diagnosis.steps.contains { $0.finding == .bad && $0.text.contains("up0") }, "\(diagnosis.steps)")
    }

    @Test func `a diagnosis ends at its limit with what it has found`() async throws {
        let small = try SmallInternet()
        try small.goDark()
        let (diagnosis, _) = try await Self.diagnose("http://198.51.100.80/text", in: small.machine) {
            $0.limit = .milliseconds(300)
        }
        #expect(diagnosis.steps.contains { $0.subject == .gateway && $0.finding == .good }, "\(diagnosis.steps)")
        #expect(!diagnosis.steps.contains { $0.subject == .connect && $0.finding == .bad }, "\(diagnosis.steps)")
    }

    @Test func `a name of the hosts file needs no name server, and the diagnosis ends before its limit`() async throws {
        let machine = try TestNamespace()
        let (diagnosis, time) = try await Self.diagnose("http://localhost:9/", in: machine)
        #expect(diagnosis.outcome == .failed)
        #expect(diagnosis.steps.contains { $0.subject == .connect && $0.finding == .bad }, "\(diagnosis.steps)")
        #expect(time < DiagnosisRunner.Limit.whole)
    }

    @Test func `a login page is named with the API that the lease of the link announces`() async throws {
        let small = try SmallInternet()
        try small.openPortal()
        let files = try TemporaryDirectory()
        let index = try small.machine.run("cat", "/sys/class/net/up0/ifindex").split(separator: "\n").first ?? ""
        try ChildProcess.run(["mkdir", "-p", files.path + "/run/systemd/netif/links"])
        try files.file("run/systemd/netif/links/\(index)", "CAPTIVE_PORTAL=https://portal.example/api\n")
        let root = files.path + "/"
        let (diagnosis, _) = try await Self.diagnose(SmallInternet.address, in: small.machine) { $0.leaseRoot = root }
        #expect(diagnosis.blame?.layer == .portal, "\(diagnosis)")
        #expect(diagnosis.steps.contains { $0.text.contains("https://portal.example/api") }, "\(diagnosis.steps)")
    }
}

extension SmallInternet {
    /// The page that answers 204, at its address.
    fileprivate static let address = "http://198.51.100.80/204"
}
