import ReachCore
import ReachLoop
import ReachTransfer
import Testing

@testable import ReachProbe

/// Questions to an API that a network announces at an address of this machine: nothing is sent, and the answer comes at
/// once.
@Suite struct PortalQuestionTests {
    private let loop: EventLoop
    private let transfers: TransferEngine
    private let api: ConnectivityEndpoint

    init() throws {
        loop = try EventLoop()
        transfers = try TransferEngine(loop: loop)
        api = try #require(ConnectivityEndpoint("https://127.0.0.1:1/api"))
    }

    /// Runs as many turns of the loop as an answer takes, and more.
    private func runTurns() {
        func turn(_ left: Int) { if left == 0 { loop.stop() } else { loop.afterEvents { turn(left - 1) } } }
        loop.afterEvents { turn(8) }
        loop.run()
    }

    private func ask(_ completion: @escaping PortalQuestion.Completion) -> PortalQuestion {
        PortalQuestion(
            api, by: .sample(), within: .seconds(10), transfers: transfers, resolver: transfers.resolver, on: loop,
            completion: completion)
    }

    @Test func `an API at an address of this machine is not asked, and nothing is left of the question`() throws {
        var outcomes: [PortalQuestion.Outcome] = []
        let question = ask { outcomes.append($0) }
        #expect(outcomes.isEmpty && loop.timerCount == 1)
        runTurns()
        withExtendedLifetime(question) { #expect(loop.timerCount == 0) }
        let outcome = try #require(outcomes.first)
        #expect(outcomes.count == 1 && outcome.result == .failure(.noAnswer))
        #expect(outcome.bytes == 0 && outcome.remote == nil && transfers.runningCount == 0)
    }

    @Test func `a question that is cancelled has no answer, before it began and while the answer is on its way`() {
        for isBegun in [false, true] {
            let question = ask { _ in Issue.record("it was cancelled") }
            if isBegun {
                // Its answer is ready after its begin, and reported in the next turn.
                loop.afterEvents { question.cancel() }
            } else {
                question.cancel()
            }
            runTurns()
            withExtendedLifetime(question) { #expect(loop.timerCount == 0) }
        }
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("fe80::1", true), ("169.254.1.1", true),
        ("192.0.2.2", true), ("192.0.2.1", false), ("10.0.0.1", false), ("198.51.100.80", false), ("fd00::1", false),
    ])
    func `what may not be asked has an address of this machine or of the link alone`(text: String, isLocal: Bool) throws
    {
        var route = DefaultRoute.sample()
        let own = try #require(IPAddress("192.0.2.2"))
        route.addresses = [InterfaceAddress(interface: 2, address: own, prefixLength: 24, flags: [])]
        let address = try #require(IPAddress(text))
        #expect(EndpointAttempt.isOfThisMachineOrLink(address, route) == isLocal)
    }
}
