internal import ReachCore

/// The errors of io.reach.Queue.
extension QueueServiceError: ControlFailure {
    package var varlink: VarlinkError {
        switch self {
        case .invalid(let field, let reason):
            Self.error("BadRequest", ["parameter": .string(field), "reason": .string(reason)])
        case .refused(let reason, let excess):
            Self.error(
                "QueueFull",
                [
                    "reason": .string(reason), "limit": excess.map { .string($0.limit) } ?? .null,
                    "allowed": excess.map { .integer($0.allowed) } ?? .null,
                    "wanted": excess.map { .integer($0.wanted) } ?? .null,
                ])
        case .notFound(let id): Self.error("NotFound", ["id": .integer(id)])
        case .alreadyOver(let id): Self.error("AlreadyOver", ["id": .integer(id)])
        case .notDead(let id): Self.error("NotDead", ["id": .integer(id)])
        case .carried(let id, let carrier):
            Self.error("Carried", ["id": .integer(id), "carrier": .integer(carrier)])
        case .noAnswer(let id): Self.error("NoAnswer", ["id": .integer(id)])
        case .notPermitted(let reason): Self.error("NotPermitted", ["reason": .string(reason)])
        case .notAvailable(let reason): Self.error("NotAvailable", ["reason": .string(reason)])
        }
    }

    /// - Returns: `nil` for errors of other interfaces, and for those that this version does not know.
    package init?(_ error: VarlinkError) {
        let parameters = JSONValue.object(error.parameters)
        let reason = parameters["reason"]?.string ?? ""
        let id = parameters["id"]?.integer ?? 0
        switch error.name {
        case Self.interface + "BadRequest":
            self = .invalid(field: parameters["parameter"]?.string ?? "", reason: reason)
        case Self.interface + "QueueFull": self = .refused(reason: reason, excess: QueueExcess(parameters))
        case Self.interface + "NotFound": self = .notFound(id)
        case Self.interface + "AlreadyOver": self = .alreadyOver(id)
        case Self.interface + "NotDead": self = .notDead(id)
        case Self.interface + "Carried": self = .carried(id, by: parameters["carrier"]?.integer ?? 0)
        case Self.interface + "NoAnswer": self = .noAnswer(id)
        case Self.interface + "NotPermitted": self = .notPermitted(reason: reason)
        case Self.interface + "NotAvailable": self = .notAvailable(reason: reason)
        default: return nil
        }
    }

    static func tooManyWatches(limit: Int) -> VarlinkError {
        error("TooManyWatches", ["limit": .integer(limit.wide)])
    }

    private static let interface = QueueInterface.name + "."

    private static func error(_ name: String, _ parameters: [String: JSONValue]) -> VarlinkError {
        VarlinkError(interface + name, parameters)
    }
}

extension QueueExcess {
    /// - Returns: `nil` where the daemon does not say.
    fileprivate init?(_ parameters: JSONValue) {
        guard let limit = parameters["limit"]?.string, let allowed = parameters["allowed"]?.integer,
            let wanted = parameters["wanted"]?.integer
        else { return nil }
        self.init(limit: limit, allowed: allowed, wanted: wanted)
    }
}

extension ControlError {
    /// The error of io.reach.Queue that it answered with.
    package var queueError: QueueServiceError? {
        guard case .refused(let error) = self else { return nil }
        return QueueServiceError(error)
    }
}
