/// A request as a client hands it in: texts as a person writes them, which the queue reads and checks.
package struct QueueSubmission: Hashable, Sendable {
    package var method: String?
    package var url: String
    /// In their order; a name may come more than once.
    package var headers: [QueueHeader] = []
    package var body: Body = .none
    /// `any`, or terms with commas between them: `unmetered, not wwan`.
    package var when: String?
    /// `urgent`, `high`, `normal`, `low`, or 0 to 3.
    package var priority: String?
    /// How long it may wait; `nil` is the queue's own time.
    package var expires: Duration?
    /// The value of `Idempotency-Key`; `nil` leaves it to the queue, which gives one to what may not be repeated.
    package var idempotencyKey: String?
    /// Requests with the same one go one after the other.
    package var order: String?
    /// With ``order``: it dies if the one before it dies.
    package var depends = false
    /// The name of the piece of work that it is.
    package var key: String?
    /// What becomes of others with the same key: `keep`, `replace`, `append`, `append-or-replace`, `coalesce`.
    package var mode: String?
    package var maximumAttempts: Int?
    /// An attempt is ended when its path no longer satisfies ``when``, although it still works.
    package var isStrict = false
    /// Statuses that are success; none are 200 to 299.
    package var acceptedStatuses: [ClosedRange<Int>] = []

    package enum Body: Hashable, Sendable {
        case none
        case bytes([UInt8])
        /// By the name that ``QueueService/upload(_:for:reply:)`` gave to it. It can be used once.
        case upload(String)
    }

    package init(url: String) { self.url = url }
}

package struct QueueHeader: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// What came of an ``QueueService/add(_:for:reply:)``.
package struct QueueReceipt: Hashable, Sendable {
    package let id: Int64
    /// One with the same key was there and stays: the number is that one's.
    package let isKept: Bool

    package init(id: Int64, isKept: Bool) {
        self.id = id
        self.isKept = isKept
    }
}

/// A body that is being brought in, in pieces.
package struct QueueUpload: Hashable, Sendable {
    package let name: String
    /// So far.
    package let bytes: Int64

    /// Without a further piece or an ``QueueService/add(_:for:reply:)`` it is thrown away.
    package static let lifetime: Duration = .seconds(300)

    package init(name: String, bytes: Int64) {
        self.name = name
        self.bytes = bytes
    }

    package struct Piece: Hashable, Sendable {
        /// `nil` begins a body.
        package let name: String?
        package let bytes: [UInt8]

        package init(name: String?, bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
        }
    }
}
