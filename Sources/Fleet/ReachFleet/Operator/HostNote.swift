package import ReachCore

/// What an operator noted about a host: an entry of the bucket ``FleetNames/notes``.
package struct HostNote: Hashable, Sendable {
    /// The most bytes of a value in the bucket.
    package static let sizeLimit = 4 << 10

    /// Labels besides those of the list of hosts, which they replace.
    package var labels: [String: String]
    /// Since when the host is no longer shown; `nil` if it is.
    package var retired: Timestamp?

    package init(labels: [String: String] = [:], retired: Timestamp? = nil) {
        self.labels = labels
        self.retired = retired
    }

    package var isEmpty: Bool { labels.isEmpty && retired == nil }

    package init(_ bytes: [UInt8]) throws(WireError) {
        let reader = try WireReader(bytes, limit: Self.sizeLimit)
        self.init(
            labels: try reader.textsByName("labels", most: HostLabels.most), retired: try reader.time("retired"))
    }

    package var bytes: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("labels", object: { $0.texts(labels) })
            json.field("retired", retired?.description)
        }
        return json.bytes
    }

    package static func key(of host: String) -> String { "host.\(host)" }
}

/// Labels that an operator gives to hosts.
package enum HostLabels {
    /// The most labels of a host, and the most bytes of a name or a value.
    package static let most = 16
    package static let size = 64
    package static let rule = "a host has at most \(most) labels NAME=VALUE, each part of at most \(size) bytes"

    /// Reads `NAME=VALUE`; `nil` for anything else.
    package static func read(_ text: String) -> (name: String, value: String)? {
        let parts = text.split(scalar: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty else { return nil }
        return (parts[0], parts[1])
    }

    /// Control characters would be shown as such everywhere, and never match.
    package static func areValid(_ labels: [String: String]) -> Bool {
        labels.count <= most
            && labels.allSatisfy { name, value in
                [name, value].allSatisfy { $0.utf8.count <= size && DisplayText.sanitized($0) == $0 }
            }
    }
}
