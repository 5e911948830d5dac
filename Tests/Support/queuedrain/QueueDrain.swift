import Glibc
import ReachCore
import ReachKernel
import ReachLoop
import ReachQueue
import ReachQueueRuntime

/// Fills a queue, and drains it on command, for `contrib/bench/queue`.
///
///     queuedrain drain memory|DIRECTORY COUNT CONCURRENCY URL WATCHED
///     queuedrain fill DIRECTORY COUNT URL
///     queuedrain upload FILE URL
///
/// `drain` sends a first GET, which loads the libraries and opens the path's gate, to URL with `first` appended. Then
/// it queues COUNT GET requests, held, for URL with a number appended. It prints `ready` when all are stored, and
/// releases them at the first line on standard input. At the end it prints a JSON object with the seconds from that
/// line to the last event `done`, and the process's CPU time during these. For each change of the target WATCHED it
/// prints `BOOTTIME_NS path` as soon as the engine reports it. `fill` only queues the requests, and waits until they
/// are stored. `upload` sends a small request, then FILE as the body of a PUT, and prints the seconds from its start to
/// its end, and by how much it raised the peak of the process's memory.
@main struct QueueDrain {
    static func main() throws {
        signal(SIGPIPE, SIG_IGN)
        let arguments = CommandLine.arguments.dropFirst()
        switch (arguments.first, arguments.count) {
        case ("drain", 6):
            guard let count = Int(arguments[3]), let concurrency = Int(arguments[4]) else { exit(2) }
            let run = try DrainRun(count: count, concurrency: concurrency, url: arguments[5])
            try run.drain(arguments[2] == "memory" ? nil : arguments[2], watching: arguments[6])
        case ("fill", 4):
            guard let count = Int(arguments[3]) else { exit(2) }
            let run = try DrainRun(count: count, concurrency: 4, url: arguments[4])
            try run.fill(arguments[2])
        case ("upload", 3):
            let run = try DrainRun(count: 2, concurrency: 1, url: arguments[3])
            try run.upload(arguments[2])
        default: exit(2)
        }
    }
}

/// One queue on one loop. Confined to the thread that makes it.
private final class DrainRun {
    private let loop: EventLoop
    private let network: ReachabilityEngine
    private let options: QueueEngine.Options
    private let count: Int
    private let url: String
    private var queue: QueueEngine?
    private var stored = 0
    private var done = 0
    private var failed = 0
    /// Who waits for the end of an upload.
    private var ended: ((Bool) -> Void)?
    private var began: (boot: BootTime, cpu: Int64)?

    init(count: Int, concurrency: Int, url: String) throws {
        loop = try EventLoop()
        network = ReachabilityEngine(loop: loop)
        var options = QueueEngine.Options()
        options.policy.slots.all = concurrency
        options.policy.slots.interface = concurrency
        options.policy.slots.destination = concurrency
        options.policy.limits.requests = .max
        options.policy.limits.bytes = .max
        self.options = options
        self.count = count
        self.url = url
    }

    func drain(_ directory: String?, watching target: String) throws {
        try open(directory)
        _ = network.watch(try Target(target)) { event in
            if case .change = event { printLine("\(SystemClock.boot.nanoseconds) path") }
        }
        try loop.watch(STDIN_FILENO, for: .readable) { [unowned self] _ in
            loop.unwatch(STDIN_FILENO)
            began = (SystemClock.boot, Self.processorTime)
            queue?.driver.ask({ .releaseQueue(.root, $0) }) { _ in }
        }
        send("GET", url + "first") { [unowned self] isDone in
            guard isDone, let driver = queue?.driver else { exit(1) }
            ended = nil
            driver.ask({ .holdQueue(.root, $0) }) { _ in }
            do { try add() } catch { exit(1) }
        }
        loop.run()
        queue?.close(patience: .seconds(10))
    }

    func fill(_ directory: String) throws {
        try open(directory)
        try add()
        loop.run()
        queue?.close(patience: .seconds(30))
    }

    func upload(_ file: String) throws {
        var status = stat()
        guard stat(file, &status) == 0 else { exit(2) }
        try open(nil)
        // The first one loads the libraries and opens the gate of the path.
        send("PUT", url, .inline([1])) { [unowned self] _ in
            resetHighest()
            let (before, start) = (memory("VmRSS"), SystemClock.boot)
            send("PUT", url, .file(path: file, bytes: Int64(status.st_size))) { [unowned self] isDone in
                let seconds = Double((SystemClock.boot - start).nanoseconds) / 1e9
                printLine(
                    #"{"seconds":\#(seconds),"more_bytes":\#(memory("VmHWM") - before),"failed":\#(isDone ? 0 : 1)}"#)
                loop.stop()
            }
        }
        loop.run()
        queue?.close(patience: .seconds(10))
    }

    /// - Parameter over: Receives whether it succeeded.
    private func send(_ method: String, _ url: String, _ body: RequestBody = .none, over: @escaping (Bool) -> Void) {
        ended = over
        guard
            let request = try? QueuedRequest(RequestSpecification(method: method, url: url, body: body)),
            (try? queue?.driver.add(request, makeKey: UniqueKey.make, reply: { _ in })) != nil
        else { exit(1) }
    }

    /// Resets VmHWM to what is resident now: proc(5), /proc/pid/clear_refs.
    private func resetHighest() {
        guard let file = fopen("/proc/self/clear_refs", "w") else { exit(3) }
        fputs("5", file)
        fclose(file)
    }

    /// A line of /proc/self/status, in bytes.
    private func memory(_ name: String) -> Int {
        guard let file = fopen("/proc/self/status", "r") else { exit(3) }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 512)
        while fgets(&line, CInt(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix(name + ":") else { continue }
            return text.split { !("0"..."9").contains($0) }.first.flatMap { Int($0) }.map { $0 << 10 } ?? 0
        }
        exit(3)
    }

    private func open(_ directory: String?) throws {
        network.start()
        let queue = QueueEngine(loop: loop, network: network, options: options) { [unowned self] in handle($0) }
        self.queue = queue
        if let directory { try queue.open(try QueueDirectory(directory)) } else { queue.openInMemory() }
    }

    private func add() throws {
        for number in 0..<count {
            let request = try QueuedRequest(RequestSpecification(url: url + "\(number)"))
            try queue?.driver.add(request, makeKey: UniqueKey.make) { [unowned self] reply in
                guard case .added = reply else { exit(1) }
                stored += 1
                if stored == count { didStoreAll() }
            }
        }
    }

    private func didStoreAll() {
        printLine("ready")
        if began == nil, CommandLine.arguments[1] == "fill" { loop.stop() }
    }

    private func handle(_ event: QueueEvent) {
        if let ended, [.done, .dead].contains(event.kind) { return ended(event.kind == .done) }
        switch event.kind {
        case .done: done += 1
        case .dead, .retrying, .interrupted: failed += 1
        default: return
        }
        guard done == count, let began else { return }
        let seconds = (SystemClock.boot - began.boot).nanoseconds
        let processor = Self.processorTime - began.cpu
        printLine(
            """
            {"seconds":\(Double(seconds) / 1e9),"cpu_seconds":\(Double(processor) / 1e9),"done":\(done),"failed":\(failed)}
            """)
        loop.stop()
    }

    /// The CPU time of all threads, in nanoseconds.
    private static var processorTime: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

private func printLine(_ text: String) {
    var line = text + "\n"
    line.withUTF8 { _ = write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}
