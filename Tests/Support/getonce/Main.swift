internal import Glibc
internal import ReachSession

/// getonce URL: asks for it once, by a session in memory, and prints the status or what went wrong. For tests.
@main enum Main {
    static func main() async {
        guard CommandLine.arguments.count == 2 else { exit(2) }
        do throws(RequestError) {
            let session = try RequestSession()
            print(try await session.get(CommandLine.arguments[1]).response().statusCode)
            session.close()
        } catch {
            print(error.kind.rawValue, error.word, error)
        }
    }
}
