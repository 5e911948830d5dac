internal import ReachCore

/// The parameters of io.reach.Queue. One of the wrong type is the caller's mistake in Varlink; one whose text makes no
/// sense is for the queue to refuse.
extension ControlRequest {
    private func value<Value>(_ name: String, _ type: KeyPath<JSONValue, Value?>) throws(VarlinkError) -> Value? {
        guard let member = call.parameters[name], member != .null else { return nil }
        guard let value = member[keyPath: type] else { throw .invalidParameter(name) }
        return value
    }

    /// A number that is not negative.
    func natural(_ name: String) throws(VarlinkError) -> Int64? {
        guard let number = try value(name, \.integer) else { return nil }
        guard number >= 0 else { throw .invalidParameter(name) }
        return number
    }

    func flag(_ name: String) throws(VarlinkError) -> Bool { try value(name, \.bool) ?? false }

    /// Bytes in base64.
    func bytes(_ name: String) throws(VarlinkError) -> [UInt8]? {
        guard let text = try text(name) else { return nil }
        guard let bytes = Base64.decode(Array(text.utf8)) else {
            throw QueueServiceError.invalid(field: name, reason: "it is not base64").varlink
        }
        return bytes
    }

    func id() throws(VarlinkError) -> Int64 {
        guard let id = try natural("id") else { throw .invalidParameter("id") }
        return id
    }

    /// One request, or all; but not all by forgetting which.
    func selection() throws(VarlinkError) -> QueueSelection {
        let (id, isAll) = (try natural("id"), try flag("all"))
        guard let id else {
            guard isAll else { throw .invalidParameter("id") }
            return .all
        }
        guard !isAll else { throw .invalidParameter("all") }
        return .request(id)
    }

    /// Requests on one page, whatever is asked for: nobody's page keeps others waiting.
    private static let longestPage: Int64 = 256

    func filter() throws(VarlinkError) -> QueueFilter {
        var filter = QueueFilter()
        for state in try value("states", \.array) ?? [] {
            guard let word = state.string else { throw .invalidParameter("states") }
            filter.states.insert(word)
        }
        filter.after = try natural("after") ?? 0
        filter.limit = Int(min(try natural("limit") ?? 100, Self.longestPage))
        return filter
    }

    /// The objects of an array.
    fileprivate func objects<Element>(
        _ name: String, _ read: (JSONValue) -> Element?
    ) throws(VarlinkError) -> [Element] {
        try (value(name, \.array) ?? []).map { json throws(VarlinkError) in
            guard let element = read(json) else { throw .invalidParameter(name) }
            return element
        }
    }
}

extension QueueSubmission {
    static let parameterNames = [
        "url", "method", "headers", "body", "upload", "when", "priority", "expires_ms", "idempotency_key", "order",
        "depends", "key", "mode", "max_attempts", "strict", "accept",
    ]

    init(_ request: ControlRequest) throws(VarlinkError) {
        guard let url = try request.text("url") else { throw .invalidParameter("url") }
        self.init(url: url)
        method = try request.text("method")
        headers = try request.objects("headers") { json in
            guard let name = json["name"]?.string, let value = json["value"]?.string else { return nil }
            return QueueHeader(name, value)
        }
        switch (try request.bytes("body"), try request.text("upload")) {
        case (nil, nil): body = .none
        case (let bytes?, nil): body = .bytes(bytes)
        case (nil, let name?): body = .upload(name)
        case (_?, _?): throw .invalidParameter("upload")
        }
        when = try request.text("when")
        priority = try request.text("priority")
        expires = try request.natural("expires_ms").map { .milliseconds($0) }
        idempotencyKey = try request.text("idempotency_key")
        order = try request.text("order")
        depends = try request.flag("depends")
        key = try request.text("key")
        mode = try request.text("mode")
        maximumAttempts = try request.natural("max_attempts").map { Int($0) }
        isStrict = try request.flag("strict")
        acceptedStatuses = try request.objects("accept") { json in
            guard let first = json["first"]?.integer, let last = json["last"]?.integer, first <= last else {
                return nil
            }
            return Int(first)...Int(last)
        }
    }
}
