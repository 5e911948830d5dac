import Dispatch
import Glibc
import ReachSession
import Synchronization

/// Sends requests through a session in memory, for `contrib/bench/queue` and for tests.
///
///     sessiondrain all|workers COUNT CONCURRENCY URL
///     sessiondrain upload FILE BYTES URL
///     sessiondrain posts COUNT CONCURRENCY URL [DIRECTORY]
///     sessiondrain day DIRECTORY CONCURRENCY URL
///     sessiondrain get URL FILE FIRST
///     sessiondrain put FILE URL FIRST
///     sessiondrain waiting COUNT CONCURRENCY URL
///     sessiondrain first URL
///
/// `all` and `workers` send COUNT GET requests, for URL with a number appended, CONCURRENCY at a time: `all` resumes
/// every task and then awaits them, as a program with a list does; `workers` has CONCURRENCY Swift tasks that each
/// await one request after the other. It sends one request first, prints `ready`, begins at the first line on
/// standard input, and prints a JSON object with the seconds and the process's CPU time until the last response.
///
/// `upload` posts a multipart form with FILE, a part in memory of a tenth of its size, and a stream of BYTES. It
/// sends a small form first, and prints by how many bytes the large one raised the highest resident memory of the
/// process.
///
/// `posts` sends COUNT requests with POST as `workers` does, each for a URL of its own and with a small body, and
/// trusts any certificate. It prints a line for each that failed, and then how many were answered. With a DIRECTORY
/// they are stored there.
///
/// `day` sends POSTs with numbers as `workers` does until its standard input ends, and also what an earlier run left in
/// DIRECTORY. It prints `stored URL` for each that is on the disk, `failed URL: ERROR`, and `over` once all are
/// answered.
///
/// `get` downloads URL to FILE, `put` uploads FILE; each gets FIRST first, and else does as `workers` does. `waiting`
/// begins COUNT requests at the first line on standard input, prints `begun`, and ends at the second one. `first` makes
/// one request and ends.
@main struct SessionDrain {
    static func main() async throws {
        signal(SIGPIPE, SIG_IGN)
        let arguments = CommandLine.arguments.dropFirst()
        switch (arguments.first, arguments.count) {
        case ("all", 4), ("workers", 4):
            guard let count = Int(arguments[2]), let concurrency = Int(arguments[3]) else { exit(2) }
            let drain = try Drain(count: count, concurrency: concurrency, url: arguments[4])
            try await drain.run(byWorkers: arguments[1] == "workers")
        case ("upload", 4):
            guard let count = Int64(arguments[3]) else { exit(2) }
            try await Upload(file: arguments[2], streamed: count, url: arguments[4]).run()
        case ("posts", 4), ("posts", 5):
            guard let count = Int(arguments[2]), let concurrency = Int(arguments[3]) else { exit(2) }
            try await Posts(count: count, concurrency: concurrency, url: arguments[4])
                .run(in: arguments.count == 5 ? arguments[5] : nil)
        case ("day", 4):
            guard let concurrency = Int(arguments[3]) else { exit(2) }
            try await Day(concurrency: concurrency, url: arguments[4]).run(in: arguments[2])
        case ("get", _), ("put", _), ("waiting", _), ("first", _):
            try await Comparison(arguments: Array(arguments)).run()
        default: exit(2)
        }
    }
}

private final class Flag: Sendable {
    let value = Mutex(false)
}

private struct Day: Sendable {
    let concurrency: Int
    let url: String

    func run(in directory: String) async throws {
        var options = RequestSessionOptions()
        options.responseSerializer = DataResponseSerializer()
        options.maximumRunning = concurrency
        options.maximumRunningPerHost = concurrency
        options.security = try SecurityPolicy(allowsInvalidCertificates: true, validatesDomainName: false)
        let session = try RequestSession(keeping: .directory(directory), options: options)
        let left = await session.tasks()
        let isOver = Flag()
        // A thread of its own: Swift's tasks have one for each processor.
        DispatchQueue(label: "input").async {
            var byte: UInt8 = 0
            while read(STDIN_FILENO, &byte, 1) > 0 {}
            isOver.value.withLock { $0 = true }
        }
        await withTaskGroup(of: Void.self) { group in
            for task in left { group.addTask { await end(task) } }
            for worker in 0..<concurrency {
                group.addTask {
                    var number = worker
                    while !isOver.value.withLock({ $0 }) {
                        await send(number, by: session)
                        number += concurrency
                    }
                }
            }
        }
        say("over")
        await session.closeAndWait()
    }

    private func send(_ number: Int, by session: RequestSession) async {
        do {
            let task = try session.post(url + "\(number)", parameters: ["number": .integer(Int64(number))])
            try await task.stored()
            say("stored \(url)\(number)")
            await end(task)
        } catch {
            say("failed \(url)\(number): \(error)")
        }
    }

    private func end(_ task: RequestTask) async {
        do { try await task.response() } catch { say("failed \(task.originalRequest.url): \(error)") }
    }

    /// Without the C library's streams, which wait for one that another thread reads.
    private func say(_ text: String) {
        let line = Array("\(text)\n".utf8)
        write(STDOUT_FILENO, line, line.count)
    }
}

private struct Posts: Sendable {
    let count: Int
    let concurrency: Int
    let url: String

    func run(in directory: String?) async throws {
        var options = RequestSessionOptions()
        options.responseSerializer = DataResponseSerializer()
        options.maximumRunning = concurrency
        options.maximumRunningPerHost = concurrency
        options.security = try SecurityPolicy(allowsInvalidCertificates: true, validatesDomainName: false)
        let session = try RequestSession(keeping: directory.map { .directory($0) } ?? .memory, options: options)
        let done = await withTaskGroup(of: Int.self) { group in
            for worker in 0..<concurrency {
                group.addTask {
                    var done = 0
                    for number in stride(from: worker, to: count, by: concurrency) {
                        if await post(number, by: session) { done += 1 }
                    }
                    return done
                }
            }
            return await group.reduce(0, +)
        }
        print(#"{"done":\#(done),"failed":\#(count - done)}"#)
        fflush(nil)
        await session.closeAndWait()
    }

    private func post(_ number: Int, by session: RequestSession) async -> Bool {
        do {
            let task = try session.post(url + "\(number)", parameters: ["number": .integer(Int64(number))])
            return try await task.response().statusCode < 300
        } catch {
            print("\(number): \(error)")
            return false
        }
    }
}

private struct Drain: Sendable {
    let count: Int
    let concurrency: Int
    let url: String
    let session: RequestSession

    init(count: Int, concurrency: Int, url: String) throws {
        (self.count, self.concurrency, self.url) = (count, concurrency, url)
        var options = RequestSessionOptions()
        options.responseSerializer = DataResponseSerializer()
        options.maximumRunning = concurrency
        options.maximumRunningPerHost = concurrency
        options.maximumRequests = count + 1
        session = try RequestSession(options: options)
    }

    func run(byWorkers: Bool) async throws {
        try await session.get(url + "warm").response()
        print("ready")
        fflush(nil)
        _ = readLine()
        let (began, cpu) = (clockTime(CLOCK_BOOTTIME), clockTime(CLOCK_PROCESS_CPUTIME_ID))
        let done = try await byWorkers ? work() : sendAll()
        let seconds = clockTime(CLOCK_BOOTTIME) - began
        let processor = clockTime(CLOCK_PROCESS_CPUTIME_ID) - cpu
        print(#"{"seconds":\#(seconds),"cpu_seconds":\#(processor),"done":\#(done),"failed":\#(count - done)}"#)
        fflush(nil)
        await session.closeAndWait()
    }

    private func sendAll() async throws -> Int {
        let tasks = try (0..<count).map { try session.get(url + "\($0)").resume() }
        var done = 0
        for task in tasks where try await task.response().statusCode == 200 { done += 1 }
        return done
    }

    private func work() async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<concurrency {
                group.addTask {
                    var done = 0
                    for number in stride(from: worker, to: count, by: concurrency)
                    where try await session.get(url + "\(number)").response().statusCode == 200 { done += 1 }
                    return done
                }
            }
            return try await group.reduce(0, +)
        }
    }
}

private struct Upload {
    let file: String
    let streamed: Int64
    let url: String

    func run() async throws {
        var options = RequestSessionOptions()
        options.responseSerializer = DataResponseSerializer()
        options.maximumBytes = .max
        options.timeouts.total = nil
        let session = try RequestSession(options: options)
        let held = [UInt8](repeating: 0x68, count: Int(streamed / 10))
        try await session.postForm(url) { $0.append(Array(held.prefix(1000)), name: "small") }.response()
        resetHighest()
        let before = memory("VmRSS")
        let task = try session.postForm(url) { form in
            try form.append(file: file, name: "file")
            form.append(held, name: "held", fileName: "held", mediaType: "application/octet-stream")
            form.append(length: streamed, name: "stream", fileName: "stream", mediaType: "application/octet-stream") {
                { buffer in
                    buffer.initializeMemory(as: UInt8.self, repeating: 0x73)
                    return buffer.count
                }
            }
        }
        let status = try await task.response().statusCode
        print(#"{"status":\#(status),"sent":\#(task.progress.sent),"more_bytes":\#(memory("VmHWM") - before)}"#)
        await session.closeAndWait()
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
}

/// A clock's time in seconds.
func clockTime(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
