import Glibc
import ReachSession

/// What `contrib/bench/queue` compares with other clients of HTTP beside many small requests; `contrib/bench/peers` has
/// the same commands.
struct Comparison {
    let arguments: [String]

    func run() async throws {
        switch (arguments[0], arguments.count) {
        case ("waiting", 4):
            guard let count = Int(arguments[1]), let concurrency = Int(arguments[2]) else { exit(2) }
            try await wait(count, concurrency, arguments[3])
        case ("get", 4): try await measure { try $0.download(arguments[1], to: arguments[2]) }
        case ("put", 4): try await measure { try $0.upload(file: arguments[1], to: arguments[2]) }
        case ("first", 2):
            let session = try session()
            try await session.get(arguments[1]).response()
            await session.closeAndWait()
        default: exit(2)
        }
    }

    private func session(concurrency: Int = 1, requests: Int = 10) throws -> RequestSession {
        var options = RequestSessionOptions()
        options.responseSerializer = DataResponseSerializer()
        options.maximumRunning = concurrency
        options.maximumRunningPerHost = concurrency
        options.maximumRequests = requests
        options.maximumBytes = .max
        return try RequestSession(options: options)
    }

    private func wait(_ count: Int, _ concurrency: Int, _ url: String) async throws {
        let session = try session(concurrency: concurrency, requests: count)
        begin()
        let tasks = try (0..<count).map { try session.get(url + "\($0)").resume() }
        print("begun")
        fflush(nil)
        _ = readLine()
        exit(tasks.count == count ? 0 : 1)
    }

    private func measure(_ start: (RequestSession) throws -> RequestTask) async throws {
        let session = try session()
        try await session.get(arguments[3]).response()
        begin()
        let (began, cpu) = (clockTime(CLOCK_BOOTTIME), clockTime(CLOCK_PROCESS_CPUTIME_ID))
        try await start(session).response()
        let processor = clockTime(CLOCK_PROCESS_CPUTIME_ID) - cpu
        print(#"{"seconds":\#(clockTime(CLOCK_BOOTTIME) - began),"cpu_seconds":\#(processor)}"#)
        fflush(nil)
        await session.closeAndWait()
    }

    private func begin() {
        print("ready")
        fflush(nil)
        _ = readLine()
    }
}
