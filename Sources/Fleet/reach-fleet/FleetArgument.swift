internal import ArgumentParser
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
