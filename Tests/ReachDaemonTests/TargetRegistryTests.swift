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
            loop: loop, configuration: Configuration(), transfers: SharedTransfers(loop: loop),
            log: Logger(label: "test"))
        weak var released: Token?
        do {
            let token = Token()
            released = token
            // Nobody knows this name, and the kernel is not asked: the answer comes when the patience with names ends.
            registry.queryState(of: try Target("nobody.invalid"), for: 1000) { [token] state in
                withExtendedLifetime(token) { #expect(state.status == .unknown) }
                loop.stop()
            }
        }
        #expect(released != nil)
        loop.run()
        #expect(released == nil)
    }
}
