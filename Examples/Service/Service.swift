import Glibc
import Logging
import ReachServices
import ReachSession
import Reachability
import ServiceLifecycle
import UnixSignals

/// service DIRECTORY URL: posts a beat each second as long as the program runs, and ends at SIGTERM or Ctrl-C. What is
/// not sent by then is sent by the next run.
@main enum ServiceExample {
    static func main() async throws {
        guard CommandLine.arguments.count == 3 else {
            print("usage: service DIRECTORY URL")
            exit(2)
        }
        // A program sets its backends first: MetricsSystem.bootstrap(...), InstrumentationSystem.bootstrap(...).
        var options = RequestSessionOptions(program: "service")
        options.responseSerializer = DataResponseSerializer()
        options.recordMetrics()
        options.trace()
        let session = try RequestSession(keeping: .directory(CommandLine.arguments[1]), options: options)
        let monitor = ReachabilityMonitor.shared
        monitor.recordMetrics()
        let beats = Beats(session: session, url: CommandLine.arguments[2])
        // They end in reverse order: the beats first, then the session that stores them.
        let group = ServiceGroup(
            services: [monitor, session, beats], gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "service") { _ in SwiftLogNoOpLogHandler() })
        try await group.run()
        print("stopped")
    }
}

private struct Beats: Service {
    let session: RequestSession
    let url: String

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let task = try session.post(url, parameters: ["beat": true])
                try await task.stored()
                print("stored a beat")
                fflush(nil)
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }
}
