package import ReachClient
internal import ReachCore
internal import ReachQueue

extension CallLimits {
    /// Text of this length is base64 of the largest piece of a body.
    static let bodyText = (QueueUpload.pieceBytes + 2) / 3 * 4

    /// The methods of all interfaces.
    package static let all = CallLimits(monitor.table.merging(queue) { own, _ in own })

    private static let queue: [String: [String: Limit]] = [
        "io.reach.Queue.Add": [
            "url": head, "method": .text(RequestSpecification.longestMethod),
            "headers": .list(QueueLimits.mostHeaders, of: .object(["name": head, "value": head])),
            "body": .text(bodyText), "upload": word, "proxy": target,
        ].merging(terms) { own, _ in own },
        "io.reach.Queue.Upload": ["name": word, "data": .text(bodyText), "memory": .scalar],
        "io.reach.Queue.List": ["states": .list(64, of: word), "after": .scalar, "limit": .scalar],
        "io.reach.Queue.Show": ["id": .scalar],
        "io.reach.Queue.Explain": ["id": .scalar],
        "io.reach.Queue.Hold": ["id": .scalar, "all": .scalar],
        "io.reach.Queue.Release": ["id": .scalar, "all": .scalar],
        "io.reach.Queue.Cancel": ["id": .scalar],
        "io.reach.Queue.Retry": ["id": .scalar, "all": .scalar, "reason": word],
        "io.reach.Queue.HoldForFleet": ["held": .scalar, "reason": .text(256)],
        "io.reach.Queue.Holds": [:],
        "io.reach.Queue.Status": [:],
        "io.reach.Queue.Result": ["id": .scalar, "offset": .scalar, "length": .scalar],
        "io.reach.Queue.Watch": ["id": .scalar],
    ]

    /// URL and headers have this limit together, too.
    private static let head = Limit.text(QueueLimits.longestHead)

    private static let terms: [String: Limit] = RequestTerm.all.reduce(into: [:]) { limits, term in
        guard let name = term.parameter else { return }
        limits[name] =
            switch term.form {
            case .flag, .number: .scalar
            case .text(let length): .text(length)
            case .word: word
            case .ranges:
                .list(RequestSpecification.mostStatusRanges, of: .object(["first": .scalar, "last": .scalar]))
            }
    }
}
