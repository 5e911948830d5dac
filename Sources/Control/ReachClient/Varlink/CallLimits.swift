package import ReachCore

/// The limits of what a call may hold: of a text in bytes, of a list in elements.
///
/// One table for both ends. The daemon checks a call by it before anything else reads the call's parameters, and a
/// client before it sends a call: the daemon refuses no text that a client accepted. SECURITY.md prints the table.
package struct CallLimits: Sendable {
    package indirect enum Limit: Hashable, Sendable {
        /// A text of at most this number of bytes.
        case text(Int)
        /// A list of at most this number of elements.
        case list(Int, of: Limit)
        /// An object with these members and no others.
        case object([String: Limit])
        /// A number or a truth value.
        case scalar
    }

    /// The parameters of each method.
    package let table: [String: [String: Limit]]

    package init(_ table: [String: [String: Limit]]) { self.table = table }

    /// The methods of io.reach.Monitor.
    package static let monitor = CallLimits([
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
    ])

    package static let target = Limit.text(Target.longestText)
    /// A word of a list of words, or a name that the daemon gave.
    package static let word = Limit.text(64)

    /// - Throws: `InvalidParameter` with the name of the first parameter that exceeds its limit.
    package func check(_ call: VarlinkCall) throws(VarlinkError) {
        guard let limits = table[call.method] else { return }
        let faults = call.parameters.filter { name, value in limits[name].map { !$0.admits(value) } ?? false }
        if let name = faults.keys.min() { throw .invalidParameter(name) }
    }
}

extension CallLimits.Limit {
    /// Whether a value is within the limit. A scalar of the wrong type is: its reader says what it wants.
    package func admits(_ value: JSONValue) -> Bool {
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

/// The interface of the daemon by which monitors ask; ReachControl has its methods.
package enum MonitorInterface {
    package static let name = "io.reach.Monitor"

    /// The parameter of Watch by which a client says that it waits for a path. Older daemons refuse it.
    package static let waitingParameter = "waiting"
}
