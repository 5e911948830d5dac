internal import ReachCore

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
