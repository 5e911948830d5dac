import Glibc
import ReachSession

/// offline-cache DIRECTORY URL: prints a document, from the server while it answers, else as it was stored last.
@main enum OfflineCache {
    static func main() async {
        guard CommandLine.arguments.count == 3 else {
            print("usage: offline-cache DIRECTORY URL")
            exit(2)
        }
        do throws(RequestError) {
            try await show(CommandLine.arguments[2], storedIn: CommandLine.arguments[1])
        } catch {
            // Nothing is stored, or the server refuses: `error.kind` says what to do.
            print("not available (\(error.word)):", error)
            exit(1)
        }
    }

    private static func show(_ url: String, storedIn directory: String) async throws(RequestError) {
        var options = RequestSessionOptions(program: "offline-cache")
        options.cache = .directory(directory, bytes: 50 << 20)
        // Without a network, or when the first attempt fails, a stored answer is used whatever its age.
        options.requests.cachePolicy = .returnCacheWhenOffline
        options.responseSerializer = DataResponseSerializer()
        let session = try RequestSession(options: options)
        let response = try await session.get(url).response()
        print("\(source(of: response)): \(response.text ?? "")")
        // A document that has just arrived is on the disk after this.
        await session.closeAndWait()
    }

    private static func source(of response: RequestResponse) -> String {
        guard let use = response.cacheUse else { return "from the server" }
        if use.isValidated { return "stored, and confirmed by the server" }
        return use.isStale ? "stored, \(use.age.components.seconds) s old, out of date" : "stored, and still fresh"
    }
}
