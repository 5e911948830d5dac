internal import Glibc
internal import ReachSession

/// getonce URL [COUNT]: fetches the URL in a session in memory, and prints the status or the error. With COUNT it does
/// so that many times, each in a session of its own, and then prints how many more threads and descriptors the process
/// has than after the first time. With the path of a directory instead of COUNT it fetches URL/1, URL/2 and so on until
/// it is killed, and keeps cookies and answers there. With `remove` behind it fetches twenty, removes what is stored,
/// prints "removed", and waits until it is killed. For tests.
@main enum Main {
    static func main() async {
        let arguments = CommandLine.arguments
        if arguments.count == 3, arguments[2].hasPrefix("/") { return await getForever(arguments[1], arguments[2]) }
        if arguments.count == 4 { return await getAndRemove(arguments[1], arguments[2]) }
        guard arguments.count >= 2, let count = arguments.count > 2 ? Int(arguments[2]) : 1 else { exit(2) }
        await get(arguments[1])
        guard count > 1 else { return }
        let before = await settledCount(atMost: 0)
        for _ in 1..<count { await get(arguments[1]) }
        print(await settledCount(atMost: before) - before)
    }

    private static func getAndRemove(_ url: String, _ directory: String) async {
        do throws(RequestError) {
            let session = try session(keepingIn: directory)
            for number in 1...20 { _ = try await session.get("\(url)/\(number)").data() }
            await session.cache.removeAll()
            print("removed")
            fflush(nil)
            try? await Task.sleep(for: .seconds(60))
            await session.closeAndWait()
        } catch {
            print(error.kind.rawValue, error.word, error)
        }
    }

    private static func session(keepingIn directory: String) throws(RequestError) -> RequestSession {
        var options = RequestSessionOptions()
        options.cookies = .file(directory + "/cookies")
        options.cache = .directory(directory + "/cache", bytes: 10 << 20, memoryBytes: 0)
        return try RequestSession(options: options)
    }

    private static func getForever(_ url: String, _ directory: String) async {
        do throws(RequestError) {
            let session = try session(keepingIn: directory)
            for number in 1... { try await session.get("\(url)/\(number)").response() }
        } catch {
            print(error.kind.rawValue, error.word, error)
        }
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

    /// The number of threads and descriptors, once it is within the limit, or after two seconds.
    private static func settledCount(atMost limit: Int) async -> Int {
        var count = 0
        for _ in 0..<20 {
            count = entries("/proc/self/fd") + entries("/proc/self/task")
            if count <= limit { break }
            try? await Task.sleep(for: .milliseconds(100))
        }
        return count
    }

    private static func entries(_ path: String) -> Int {
        guard let directory = opendir(path) else { return 0 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count
    }
}
