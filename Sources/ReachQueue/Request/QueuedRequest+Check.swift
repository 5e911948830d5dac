internal import ReachCore

extension QueuedRequest {
    /// The same request with what the queue adds: a request that may not be repeated gets an idempotency key.
    ///
    /// - Parameter makeKey: A new key that nobody has: a UUIDv7, as scheduling.md 4.4 has it.
    package func completed(makeKey: () -> String) -> QueuedRequest {
        guard !isRepeatable, !headers.contains(where: { Self.isKeyHeader($0.name) }) else { return keyedByHeader() }
        var copy = self
        let key = makeKey()
        copy.idempotency = .key(key)
        copy.headers.append(Header(name: "Idempotency-Key", value: key))
        return copy
    }

    /// A key that the client set by itself counts as one.
    private func keyedByHeader() -> QueuedRequest {
        guard case .byMethod = idempotency, let header = headers.first(where: { Self.isKeyHeader($0.name) }) else {
            return self
        }
        var copy = self
        copy.idempotency = .key(header.value)
        return copy
    }

    private static func isKeyHeader(_ name: String) -> Bool { name.lowercased() == "idempotency-key" }

    /// Holds it against what HTTP allows and what the queue takes.
    ///
    /// - Throws: ``RequestMistake``, which names the field and the text at fault.
    package func check(_ limits: QueueLimits) throws(RequestMistake) {
        guard !method.isEmpty, method.utf8.count <= 32, method.utf8.allSatisfy(RequestFieldFault.isOfToken) else {
            throw RequestMistake(.method, "'\(DisplayText.sanitized(method))' is not a method such as GET")
        }
        guard method != "CONNECT" else {
            throw RequestMistake(.method, "'CONNECT' asks for a tunnel, not for an answer")
        }
        if let fault = RequestFieldFault.first(in: headers.lazy.map { ($0.name, $0.value) }) {
            throw RequestMistake(.header, fault.description)
        }
        let headBytes = url.utf8.count + headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard headBytes <= limits.headBytes else {
            throw RequestMistake(
                .header, "URL and headers take \(headBytes) bytes; at most \(limits.headBytes) are taken")
        }
        if case .inline(let bytes) = body, bytes.count > limits.inlineBodyBytes {
            throw RequestMistake(.body, "a body of \(bytes.count) bytes is too large to be held in the queue's file")
        }
        if let timeToLive, timeToLive <= .zero {
            throw RequestMistake(.timeToLive, "a request must be given some time")
        }
        if let maximumAttempts, maximumAttempts < 1 {
            throw RequestMistake(.maximumAttempts, "'\(maximumAttempts)' attempts are too few: at least 1")
        }
        try checkStatuses()
        try checkKeys(limits)
    }

    /// More ranges than that only take up room: they would count towards no limit.
    private static let statusRanges = 32

    private func checkStatuses() throws(RequestMistake) {
        guard acceptedStatuses.count <= Self.statusRanges else {
            throw RequestMistake(
                .acceptedStatuses,
                "\(acceptedStatuses.count) ranges of statuses are too many: at most \(Self.statusRanges)")
        }
        guard let odd = acceptedStatuses.first(where: { !(100...599).contains($0.lowerBound) || $0.upperBound > 599 })
        else { return }
        throw RequestMistake(
            .acceptedStatuses, "\(odd.lowerBound)-\(odd.upperBound) are no statuses: they go from 100 to 599")
    }

    private func checkKeys(_ limits: QueueLimits) throws(RequestMistake) {
        if let orderKey, orderKey.isEmpty || orderKey.utf8.count > limits.keyBytes {
            throw RequestMistake(.orderKey, "an order key has 1 to \(limits.keyBytes) bytes")
        }
        let name: String
        switch uniqueness {
        case .none:
            if dependsOnPrevious, orderKey == nil {
                throw RequestMistake(.orderKey, "a request can depend on the one before it only with an order key")
            }
            return
        case .unique(let text, _): name = text
        case .coalesce(let text): name = text
        }
        guard !name.isEmpty, name.utf8.count <= limits.keyBytes else {
            throw RequestMistake(.uniqueness, "a key has 1 to \(limits.keyBytes) bytes")
        }
        guard orderKey == nil else {
            throw RequestMistake(
                .uniqueness, "a request has either an order key or a key of its own: the key orders, too")
        }
    }
}
