internal import ReachCore

/// The errors of io.reach.Monitor.
package enum MonitorError: ControlFailure, Hashable, Sendable {
    case invalidTarget(String, reason: String)
    case cannotObserve(reason: String)
    case permissionDenied(method: String)
    case tooManyConnections(limit: Int)
    case tooManyTargets(limit: Int)
    case notAvailable(reason: String)
    /// The new configuration has a mistake. The daemon keeps the old one.
    case badConfiguration(reason: String)

    package var varlink: VarlinkError {
        switch self {
        case .invalidTarget(let target, let reason):
            Self.error("InvalidTarget", ["target": .string(target), "reason": .string(reason)])
        case .cannotObserve(let reason): Self.error("CannotObserve", ["reason": .string(reason)])
        case .permissionDenied(let method): Self.error("PermissionDenied", ["method": .string(method)])
        case .tooManyConnections(let limit): Self.error("TooManyConnections", ["limit": .integer(limit.wide)])
        case .tooManyTargets(let limit): Self.error("TooManyTargets", ["limit": .integer(limit.wide)])
        case .notAvailable(let reason): Self.error("NotAvailable", ["reason": .string(reason)])
        case .badConfiguration(let reason): Self.error("BadConfiguration", ["reason": .string(reason)])
        }
    }

    /// - Returns: `nil` for errors of other interfaces, and for errors that this version does not know.
    package init?(_ error: VarlinkError) {
        let parameters = JSONValue.object(error.parameters)
        let reason = parameters["reason"]?.string ?? ""
        let limit = Int(parameters["limit"]?.integer ?? 0)
        switch error.name {
        case Self.interface + "InvalidTarget":
            self = .invalidTarget(parameters["target"]?.string ?? "", reason: reason)
        case Self.interface + "CannotObserve": self = .cannotObserve(reason: reason)
        case Self.interface + "PermissionDenied":
            self = .permissionDenied(method: parameters["method"]?.string ?? "")
        case Self.interface + "TooManyConnections": self = .tooManyConnections(limit: limit)
        case Self.interface + "TooManyTargets": self = .tooManyTargets(limit: limit)
        case Self.interface + "NotAvailable": self = .notAvailable(reason: reason)
        case Self.interface + "BadConfiguration": self = .badConfiguration(reason: reason)
        default: return nil
        }
    }

    private static let interface = MonitorInterface.name + "."

    private static func error(_ name: String, _ parameters: [String: JSONValue]) -> VarlinkError {
        VarlinkError(interface + name, parameters)
    }
}

extension ControlError {
    /// The error of io.reach.Monitor with which the daemon answered.
    package var monitorError: MonitorError? {
        guard case .refused(let error) = self else { return nil }
        return MonitorError(error)
    }
}
