import Glibc
import ReachLoop
import ReachTransfer

/// `fetch URL`: makes one transfer and prints the status, or the word for the failure. For tests that need a process of
/// their own, such as those of its environment.
@main enum Fetch {
    static func main() { run() }
}

private func run() {
    signal(SIGPIPE, SIG_IGN)
    guard CommandLine.arguments.count == 2, let url = try? TransferURL(CommandLine.arguments[1]),
        let loop = try? EventLoop(), let engine = try? TransferEngine(loop: loop)
    else { exit(2) }
    _ = engine.start(
        TransferRequest(url: url),
        handler: TransferHandler { event in
            guard case .finished(let report) = event else { return }
            print(report.response.map { "\($0.status)" } ?? report.failure?.reason.rawValue ?? "")
            loop.stop()
        })
    loop.run()
}
