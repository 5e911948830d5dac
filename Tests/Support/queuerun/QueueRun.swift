import Glibc
import ReachCore
import ReachKernel
import ReachLoop
import ReachQueue
import ReachQueueRuntime

/// A queue with the kernel's routes and real transfers, to be killed in the middle.
///
///     queuerun DIRECTORY COUNT URL [get [MILLISECONDS] | tus FILE]
///
/// It opens the queue, adds COUNT POST or GET requests, all at once or one each so many milliseconds, or resumable
/// uploads of a file, and prints `added ID`, `done ID`, `dead ID` and `open COUNT` as these happen.
@main struct QueueRun {
    static func main() throws {
        signal(SIGPIPE, SIG_IGN)
        let arguments = CommandLine.arguments
        guard 4...6 ~= arguments.count, let count = Int(arguments[2]) else { exit(2) }
        let file = arguments.count == 6 && arguments[4] == "tus" ? arguments[5] : nil
        let isGET = arguments.count >= 5 && file == nil
        let interval = Duration.milliseconds(arguments.count == 6 ? Int(arguments[5]) ?? 0 : 0)
        let loop = try EventLoop()
        let network = ReachabilityEngine(loop: loop)
        network.start()
        let queue = QueueEngine(loop: loop, network: network) { event in
            guard let id = event.request, [.done, .dead].contains(event.kind) else { return }
            say("\(event.kind.rawValue) \(id)")
        } notify: { notice in
            if case .opened(let count, _) = notice { say("open \(count)") }
        }
        try queue.open(try QueueDirectory(arguments[1]))
        for number in 0..<count {
            if let file {
                var request = try RequestSpecification(
                    method: "POST", url: arguments[3], body: .file(path: file, bytes: 0))
                request.uploadProtocol = .tus
                try add(request, to: queue)
                continue
            }
            let request = try RequestSpecification(
                method: isGET ? "GET" : "POST", url: arguments[3] + "\(number)",
                body: isGET ? .none : .inline(Array("body \(number)".utf8)))
            guard interval > .zero else {
                try add(request, to: queue)
                continue
            }
            _ = loop.schedule(at: SystemClock.boot + interval * number) { try? add(request, to: queue) }
        }
        loop.run()
    }

    private static func add(_ request: RequestSpecification, to queue: QueueEngine) throws {
        try queue.driver.add(QueuedRequest(request), makeKey: UniqueKey.make) { reply in
            if case .added(let id) = reply { say("added \(id)") }
        }
    }

    private static func say(_ text: String) {
        var line = text + "\n"
        line.withUTF8 { _ = write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}
