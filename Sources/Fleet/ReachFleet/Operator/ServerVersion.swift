internal import ReachCore

/// A version of nats-server.
package struct ServerVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let major: Int
    package let minor: Int
    package let patch: Int

    package init(_ major: Int, _ minor: Int, _ patch: Int) {
        self.major = major
        self.minor = minor
        self.patch = patch
    }

    /// Reads `2.9.10`, and what may follow as in `2.12.0-RC.1`.
    package init?(_ text: String) {
        let numbers = text.dropScalars { $0 == "v" }.prefixScalars { $0.isDigit || $0 == "." }.split(
            scalar: ".", omittingEmptySubsequences: false
        ).map { Int($0) }
        guard numbers.count >= 2, numbers.count <= 3, let major = numbers[0], let minor = numbers[1] else { return nil }
        self.init(major, minor, (numbers.count == 3 ? numbers[2] : 0) ?? 0)
    }

    package var description: String { "\(major).\(minor).\(patch)" }

    package static func < (left: ServerVersion, right: ServerVersion) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }

    /// The oldest that the tests run against: Debian 12's.
    package static let floor = ServerVersion(2, 9, 10)
    /// The oldest that operators should run: earlier ones lack the fixes of CVE-2026-33222 and CVE-2023-47090.
    package static let advised = ServerVersion(2, 12, 6)

    /// Compression of streams, and `sync_interval` in the configuration.
    package var hasCompression: Bool { self >= ServerVersion(2, 10, 0) }
    /// A time of its own for each message, and marks where it ended, which earlier versions of setup asked for.
    package var hasMessageTTL: Bool { self >= ServerVersion(2, 11, 0) }
}
