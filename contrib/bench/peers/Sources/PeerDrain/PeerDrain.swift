import Glibc

/// One client of HTTP, as its documentation would have it used.
package protocol PeerClient: Sendable {
    /// - Parameter concurrency: The most requests to a server at a time.
    init(concurrency: Int) throws

    /// Makes a GET, and reads the answer. Throws unless it is 200.
    func get(_ url: String) async throws
    func download(_ url: String, to file: String) async throws
    func upload(_ file: String, to url: String) async throws
    func close() async throws
}

package struct UnexpectedStatus: Error {
    let code: Int

    package init(_ code: Int) { self.code = code }
}

/// The commands that `sessiondrain` has, too.
///
///     workers COUNT CONCURRENCY URL
///     waiting COUNT CONCURRENCY URL
///     get URL FILE FIRST
///     put FILE URL FIRST
///     first URL
///
/// `workers` sends COUNT requests with GET for URL with a number appended, CONCURRENCY at a time. `get` downloads URL
/// to FILE, `put` uploads it. Each sends a first small request, prints `ready`, begins at the first line on standard
/// input, and prints a JSON object with the seconds and the process's CPU time. `waiting` begins COUNT requests after
/// that line, prints `begun`, and ends with its standard input. `first` makes one request and ends.
package func drain<Client: PeerClient>(by client: Client.Type) async throws {
    signal(SIGPIPE, SIG_IGN)
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch (arguments.first, arguments.count) {
    case ("workers", 4):
        guard let count = Int(arguments[1]), let concurrency = Int(arguments[2]) else { exit(2) }
        try await work(count, by: client.init(concurrency: concurrency), arguments[3], concurrency: concurrency)
    case ("waiting", 4):
        guard let count = Int(arguments[1]), let concurrency = Int(arguments[2]) else { exit(2) }
        try await wait(count, by: client.init(concurrency: concurrency), arguments[3])
    case ("get", 4):
        let client = try client.init(concurrency: 1)
        try await measure(client, arguments[3]) { try await client.download(arguments[1], to: arguments[2]) }
    case ("put", 4):
        let client = try client.init(concurrency: 1)
        try await measure(client, arguments[3]) { try await client.upload(arguments[1], to: arguments[2]) }
    case ("first", 2):
        let client = try client.init(concurrency: 1)
        try await client.get(arguments[1])
        try await client.close()
    default: exit(2)
    }
}

private func work(_ count: Int, by client: some PeerClient, _ url: String, concurrency: Int) async throws {
    try await measure(client, url + "warm") {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<concurrency {
                group.addTask {
                    for number in stride(from: worker, to: count, by: concurrency) {
                        try await client.get(url + "\(number)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

private func wait(_ count: Int, by client: some PeerClient, _ url: String) async throws {
    print("ready")
    fflush(nil)
    _ = readLine()
    for number in 0..<count { Task { try await client.get(url + "\(number)") } }
    print("begun")
    fflush(nil)
    _ = readLine()
    exit(0)
}

private func measure(_ client: some PeerClient, _ first: String, _ body: () async throws -> Void) async throws {
    try await client.get(first)
    print("ready")
    fflush(nil)
    _ = readLine()
    let (began, cpu) = (seconds(CLOCK_BOOTTIME), seconds(CLOCK_PROCESS_CPUTIME_ID))
    try await body()
    print(#"{"seconds":\#(seconds(CLOCK_BOOTTIME) - began),"cpu_seconds":\#(seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu)}"#)
    fflush(nil)
    try await client.close()
}

private func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
