internal import ReachCore
internal import ReachQueue

/// The limits of what a call may hold: of a text in bytes, of a list in elements.
///
/// One table for both ends. The daemon checks a call by it before anything else reads the call's parameters, and a
/// client before it sends a call: the daemon refuses no text that a client accepted. SECURITY.md prints the table.
enum CallLimits {
    indirect enum Limit: Hashable, Sendable {
        /// A text of at most this number of bytes.
        case text(Int)
        /// A list of at most this number of elements.
        case list(Int, of: Limit)
        /// An object with these members and no others.
        case object([String: Limit])
        /// A number or a truth value.
        case scalar
    }

    /// Text of this length is base64 of the largest piece of a body.
    static let bodyText = (QueueUpload.pieceBytes + 2) / 3 * 4

    /// The parameters of each method.
    static let table: [String: [String: Limit]] = [
        "org.varlink.service.GetInfo": [:],
        "org.varlink.service.GetInterfaceDescription": ["interface": .text(255)],

        "io.reach.Monitor.Status": ["target": target],
        "io.reach.Monitor.Watch": ["target": target, "queue": .scalar, "waiting": .scalar],
        "io.reach.Monitor.Explain": ["target": target],
        "io.reach.Monitor.Probe": ["target": target, "interface": .text(127), "timeout_ms": .scalar],
        "io.reach.Monitor.Probes": ["after": .scalar, "limit": .scalar],
        "io.reach.Monitor.Journal": [
            "log": word, "after": .scalar, "limit": .scalar, "types": .list(64, of: word),
        ],
        "io.reach.Monitor.Targets": [:],
        "io.reach.Monitor.Links": [:],
        "io.reach.Monitor.NetworkNamespace": [:],
        "io.reach.Monitor.Reload": [:],
        "io.reach.Monitor.TestHooks": [:],

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

    private static let target = Limit.text(Target.longestText)
    /// URL and headers have this limit together, too.
    private static let head = Limit.text(QueueLimits.longestHead)
    /// A word of a list of words, or a name that the daemon gave.
    private static let word = Limit.text(64)

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

    /// - Throws: `InvalidParameter` with the name of the first parameter that exceeds its limit.
    static func check(_ call: VarlinkCall) throws(VarlinkError) {
        guard let limits = table[call.method] else { return }
        let faults = call.parameters.filter { name, value in limits[name].map { !$0.admits(value) } ?? false }
        if let name = faults.keys.min() { throw .invalidParameter(name) }
    }
}

extension CallLimits.Limit {
    /// Whether a value is within the limit. A scalar of the wrong type is: its reader says what it wants.
    func admits(_ value: JSONValue) -> Bool {
        switch (self, value) {
        case (_, .null), (_, .bool), (_, .integer), (_, .double): true
        case (.text(let limit), .string(let text)): text.utf8.count <= limit
        case (.list(let limit, let element), .array(let elements)):
            elements.count <= limit && elements.allSatisfy(element.admits)
        case (.object(let members), .object(let values)):
            values.allSatisfy { name, value in members[name]?.admits(value) ?? false }
        default: false
        }
    }
}
