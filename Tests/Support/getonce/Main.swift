internal import Glibc
internal import ReachSession

/// getonce URL [COUNT]: asks for it once, by a session in memory, and prints the status or what went wrong; so many times,
/// each by a session of its own. Then it prints how many threads and descriptors there are more than after the first. For
/// tests.
@main enum Main {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count >= 2, let count = arguments.count > 2 ? Int(arguments[2]) : 1 else { exit(2) }
        await get(arguments[1])
        guard count > 1 else { return }
        let before = await settled(atMost: 0)
        for _ in 1..<count { await get(arguments[1]) }
        print(await settled(atMost: before) - before)
    }

    private static func get(_ url: String) async {
        do throws(RequestError) {
            let session = try RequestSession()
            print(try await session.get(url).response().statusCode)
            await session.closeAndWait()
        } catch {
            print(error.kind.rawValue, error.word, error)
        }
    }

    /// Threads and descriptors, when there are no more than these or have not been for two seconds.
    private static func settled(atMost limit: Int) async -> Int {
        var held = 0
        for _ in 0..<20 {
            held = entries("/proc/self/fd") + entries("/proc/self/task")
            if held <= limit { break }
            try? await Task.sleep(for: .milliseconds(100))
        }
        return held
    }

    private static func entries(_ path: String) -> Int {
        guard let directory = opendir(path) else { return 0 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count
    }
}
