package import ReachCore

/// What an operator did: a message of the stream ``FleetNames/audit``. The subject says whose key it was, since the
/// server lets each key write its own subject only.
package struct OperatorAction: Hashable, Sendable {
    /// The most bytes of a message.
    package static let sizeLimit = 4 << 10

    package enum Kind: String, CaseIterable, Hashable, Sendable {
        case hold, release, quiet, acknowledge, retire, label, setup, enroll, revoke
    }

    package var kind: Kind
    /// The hosts, the group, or the alert.
    package var subject: String
    /// Why, or what was written.
    package var text: String?
    /// The name of the user who ran the program. Nothing checks it.
    package var user: String?
    /// The bucket's revision of the document.
    package var revision: UInt64?

    package init(_ kind: Kind, on subject: String, text: String? = nil, user: String? = nil, revision: UInt64? = nil) {
        self.kind = kind
        self.subject = subject
        self.text = text
        self.user = user
        self.revision = revision
    }

    package init(_ bytes: [UInt8]) throws(WireError) {
        let reader = try WireReader(bytes, limit: Self.sizeLimit)
        guard let kind: Kind = try reader.word("action") else { throw reader.fault("action") }
        self.init(
            kind, on: try reader.requiredText("on"), text: try reader.text("text", limit: 1024),
            user: try reader.text("user"), revision: try reader.number("revision"))
    }

    package var bytes: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("action", kind.rawValue)
            json.field("on", WireReader.bounded(subject, limit: WireReader.textLimit))
            json.field("text", text.map { WireReader.bounded($0, limit: 1024) })
            json.field("user", user.map { WireReader.bounded($0, limit: WireReader.textLimit) })
            json.field("revision", revision.map { Int64(clamping: $0) })
        }
        return json.bytes
    }
}

/// An action as readers show it.
package struct AuditEntry: Hashable, Sendable {
    /// When the server stored it.
    package let time: Timestamp
    /// The operator's key, which the server has checked; `nil` for a document that no one recorded.
    package let key: String?
    /// The name that the administrator gave the key.
    package let name: String?
    package let action: OperatorAction

    package init(time: Timestamp, key: String?, name: String?, action: OperatorAction) {
        self.time = time
        self.key = key
        self.name = name
        self.action = action
    }

    /// `anna held group tills (revision 7): stocktaking`.
    package var sentence: String {
        let who = name ?? key.map { "key \($0)" } ?? "somebody, without a record"
        let user = action.user.map { " (as \($0))" } ?? ""
        let what =
            switch action.kind {
            case .hold: "held"
            case .release: "released"
            case .quiet: "quieted"
            case .acknowledge: "acknowledged"
            case .retire: "retired"
            case .label: "labelled"
            case .setup: "stored"
            case .enroll: "enrolled"
            case .revoke: "revoked"
            }
        return "\(who)\(user) \(what) \(action.subject)" + (action.text.map { ": \($0)" } ?? "")
    }
}

/// The names of the operators' keys: entries of the bucket ``FleetNames/notes``.
package struct OperatorName: Hashable, Sendable {
    package let name: String
    /// The groups that the operator is responsible for; none for all hosts.
    package let groups: [String]

    package init(name: String, groups: [String] = []) {
        self.name = name
        self.groups = groups
    }

    package init?(_ value: [UInt8]) {
        guard let reader = try? WireReader(value, limit: 4096), let name = try? reader.requiredText("name") else {
            return nil
        }
        self.init(name: name, groups: ((try? reader.texts("groups")) ?? []).filter(FleetNames.hostIsValid))
    }

    package var bytes: [UInt8] {
        var json = JSONWriter()
        json.object {
            $0.field("v", 1)
            $0.field("name", name)
            $0.field("groups", groups)
        }
        return json.bytes
    }

    package static func noteKey(of key: String) -> String { "key.\(key)" }
}
