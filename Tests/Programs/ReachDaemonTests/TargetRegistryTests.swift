import Logging
import ReachCore
import ReachLoop
import Testing

@testable import ReachDaemon

@Suite(.timeLimit(.minutes(1))) struct TargetRegistryTests {
    private final class Token {}

    @Test func `what waits for a state is released once it has it`() throws {
        let loop = try EventLoop()
        let registry = TargetRegistry(
            loop: loop, configuration: Configuration(),
            transfers: SharedTransfers(loop: loop),
            log: Logger(label: "test"))
        registry.start()
        weak var released: Token?
        do {
            let token = Token()
            released = token
            registry.queryState(of: try Target("localhost"), for: 1000) { [token] _, _ in
                withExtendedLifetime(token) { loop.stop() }
            }
        }
        #expect(released != nil)
        let guardian = loop.schedule(at: SystemClock.boot + .seconds(20)) { loop.stop() }
        loop.run()
        loop.cancel(guardian)
        #expect(released == nil)
    }
}
