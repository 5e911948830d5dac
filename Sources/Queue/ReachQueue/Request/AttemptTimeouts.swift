internal import ReachCore

/// The time limits of a request's attempts. `nil` means no limit.
package struct AttemptTimeouts: Hashable, Sendable {
    /// From the start until the request can be sent.
    package var connect: Duration?
    /// Without a byte in either direction.
    package var idle: Duration?
    /// For the whole attempt.
    package var total: Duration?

    package init(connect: Duration?, idle: Duration?, total: Duration?) {
        self.connect = connect
        self.idle = idle
        self.total = total
    }

    /// The three limits in nanoseconds, in the order of the properties, with `-` for none: the form in the queue's
    /// file.
    package var text: String {
        [connect, idle, total].map { $0.map { "\($0.nanoseconds)" } ?? "-" }.joined(separator: " ")
    }

    /// Reads ``text``.
    ///
    /// - Returns: `nil` for anything else.
    package init?(text: String) {
        let words = text.split(scalar: " ", omittingEmptySubsequences: false)
        guard words.count == 3 else { return nil }
        var limits: [Duration?] = []
        for word in words {
            if word == "-" {
                limits.append(nil)
            } else if let number = Int64(word), number > 0 {
                limits.append(.nanoseconds(number))
            } else {
                return nil
            }
        }
        self.init(connect: limits[0], idle: limits[1], total: limits[2])
    }

    var isPositive: Bool { [connect, idle, total].allSatisfy { $0.map { $0 > .zero } ?? true } }
}
