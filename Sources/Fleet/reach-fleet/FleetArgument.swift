internal import ArgumentParser
internal import Glibc
internal import ReachCore
internal import ReachFleet
internal import ReachLoop

/// Values of the command line.
enum FleetArgument {
    static func duration(_ text: String) throws -> Duration {
        guard let duration = DurationText.parse(text), duration > .zero else {
            throw ValidationError("'\(text)' is not a duration such as 30s, 1h30m or 7d")
        }
        return duration
    }

    /// How often something is read or written again.
    static func interval(_ text: String) throws -> Duration {
        let interval = try duration(text)
        guard interval >= .seconds(1) else { throw ValidationError("an interval is at least 1s") }
        return interval
    }

    /// Reads a small file that is named, or standard input for `-`; `nil` if it cannot be read.
    static func smallText(_ path: String) -> String? {
        guard path == "-" else { return SmallFile.text(path, limit: smallest) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count < smallest {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        return String(decoding: bytes.prefix(smallest), as: UTF8.self)
    }

    private static let smallest = 64 << 10

    /// How long a user is let in by a token unless an option says so.
    static let standardLife: Duration = .seconds(365 * 86_400)

    static func life(_ text: String) throws -> Duration {
        let life = try duration(text)
        guard life <= FleetAccounts.longestLife else {
            throw ValidationError("'\(text)' is longer than 400d: who was revoked is remembered for as long")
        }
        return life
    }

    /// Reads a list of hosts.
    static func hosts(_ path: String) throws -> HostList {
        guard let text = SmallFile.text(path, limit: 64 << 20) else {
            throw FleetFailure(.cannotRead, "\(DisplayText.sanitized(path)): cannot be read")
        }
        do throws(HostList.Fault) {
            return try HostList(text: text)
        } catch {
            throw FleetFailure(.cannotRead, "\(DisplayText.sanitized(path)), line \(error.line): \(error.sentence)")
        }
    }

    /// Reads which hosts are meant.
    static func query(_ text: String) throws -> HostQuery {
        do throws(HostQuery.Fault) {
            return try HostQuery(text)
        } catch {
            throw ValidationError("'\(text)' says no hosts: \(error)")
        }
    }

    static func host(_ text: String) throws -> String {
        guard FleetNames.hostIsValid(text) else {
            throw ValidationError("'\(text)' is not a host's identity: 1 to 64 letters, digits, '-' and '_'")
        }
        return text
    }
}
