import Glibc
import ReachFleetLink

struct NotInTime: Error, CustomStringConvertible { let description: String }

/// Waits for something that another thread or process does.
func waitUntil(
    _ what: String = "the condition", within limit: Duration = .seconds(20), _ isTrue: () throws -> Bool
) throws {
    let deadline = ContinuousClock.now + limit
    while try !isTrue() {
        guard ContinuousClock.now < deadline else { throw NotInTime(description: "\(what) did not come true") }
        // A look may be a connection or a program.
        usleep(20_000)
    }
}

/// The kind of the error with which `body` fails; `nil` if it does not.
func failure<Value>(_ body: () throws -> Value) -> NATSError.Kind? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? NATSError)?.kind ?? .failed
    }
}
