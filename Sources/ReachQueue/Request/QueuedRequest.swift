/// What a client wants to have sent, and when it may be.
package struct QueuedRequest: Hashable, Sendable {
    package var method: String
    /// As it was written; ``destination`` is the part that the queue reckons with.
    package var url: String
    package let destination: Destination
    package var headers: [Header]
    package var body: RequestBody
    /// What the network must be like.
    package var constraint: Constraint
    package var priority: RequestPriority = .normal
    /// From its storing on; `nil` takes ``QueuePolicy/timeToLive``.
    package var timeToLive: Duration?
    package var idempotency: Idempotency = .byMethod
    /// Requests of one user with the same order key are sent one at a time, in the order of their storing.
    package var orderKey: String?
    /// It dies when the request before it, by the order key, died or was cancelled.
    package var dependsOnPrevious = false
    package var uniqueness: RequestUniqueness = .none
    /// How many failures of the destination it survives; `nil`: any number. Failures of the network do not count.
    package var maximumAttempts: Int?
    /// When the class of the path no longer satisfies, a running attempt is ended although its path still works.
    package var isStrict = false
    /// Which statuses are success; AFNetworking's serializers take 200 to 299.
    package var acceptedStatuses: [ClosedRange<Int>] = [200...299]
    /// Where the answer's body goes instead of the queue's own file.
    package var outputPath: String?
    /// Whose it is, as the kernel named the client.
    package var owner: UInt32

    /// - Throws: ``RequestMistake`` when the URL is not one that can be queued.
    package init(
        method: String = "GET", url: String, headers: [Header] = [], body: RequestBody = .none,
        constraint: Constraint = .any, owner: UInt32 = 0
    ) throws(RequestMistake) {
        self.method = method
        self.url = url
        destination = try Destination(url: url)
        self.headers = headers
        self.body = body
        self.constraint = constraint
        self.owner = owner
    }

    /// A request that was checked before, with the destination that was found then. For what comes back from the queue's file.
    package init(
        stored url: String, to destination: Destination, method: String, headers: [Header], constraint: Constraint,
        owner: UInt32
    ) {
        self.method = method
        self.url = url
        self.destination = destination
        self.headers = headers
        body = .none
        self.constraint = constraint
        self.owner = owner
    }

    /// Whether it may be sent again when what became of an attempt is not known.
    package var isRepeatable: Bool { idempotency.allowsRepetition(ofMethod: method) }

    /// Whether whoever answers in the destination's place would learn what is meant for it alone: it goes in the clear, with
    /// credentials or a body. By HTTPS a portal is found out before anything is sent.
    package var isRevealing: Bool {
        guard !destination.isSecure else { return false }
        return body != .none || headers.contains { Self.isCredential($0.name) }
    }

    /// Whether a header of this name has credentials.
    package static func isCredential(_ name: String) -> Bool {
        ["authorization", "proxy-authorization", "cookie"].contains(name.lowercased())
    }

    package func accepts(status: Int) -> Bool { acceptedStatuses.contains { $0.contains(status) } }

    /// How many bytes of the queue's room it takes, in round numbers: its texts, its body, and a row's overhead.
    package var bytesHeld: Int64 {
        let texts = url.utf8.count + headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        return body.bytesHeld + Int64(texts + 256)
    }
}

extension QueuedRequest {
    /// One header of a request or of an answer.
    package struct Header: Hashable, Sendable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }
}
