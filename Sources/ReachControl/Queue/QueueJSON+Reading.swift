package import ReachCore

extension QueueItem {
    /// Reads what `JSONWriter.queueItem` wrote, maybe that of a newer version.
    package init(reading json: JSONValue) throws(StatusReadingError) { try self.init(StatusReader(json)) }

    init(_ reader: StatusReader) throws(StatusReadingError) {
        guard let user: UInt32 = try reader.number("user") else { throw reader.fault("user") }
        self.init(
            id: try reader.value("id", \.integer), user: user, state: try reader.value("state", \.string),
            method: try reader.value("method", \.string), url: try reader.value("url", \.string),
            when: try reader.value("when", \.string), priority: try reader.value("priority", \.string),
            created: try reader.time("created"), deadline: try reader.time("deadline"))
        reason = try reader.optional("reason", \.string)
        blockers = try reader.texts("blockers")
        order = try reader.optional("order", \.string)
        key = try reader.optional("key", \.string)
        idempotencyKey = try reader.optional("idempotency_key", \.string)
        bodyBytes = try reader.optional("body_bytes", \.integer) ?? 0
        notBefore = try reader.optionalTime("not_before")
        over = try reader.optionalTime("over")
        attempts = try reader.number("attempts") ?? 0
        networkFailures = try reader.number("network_failures") ?? 0
        tries = try reader.number("tries") ?? 0
        if try reader.optional("progress", \.object) != nil {
            running = try QueueProgress(reader.object("progress"), of: id)
        }
        status = try reader.number("status")
        answerBytes = try reader.optional("answer_bytes", \.integer)
    }
}

extension QueueProgress {
    init(_ reader: StatusReader, of id: Int64) throws(StatusReadingError) {
        let boot = try reader.value("began_boottime_ns", \.integer)
        self.init(
            id: id, interface: try reader.value("interface", \.string),
            began: Instant(wall: try reader.time("began"), boot: BootTime(nanoseconds: boot)),
            sent: try reader.value("sent", \.integer), toSend: try reader.optional("to_send", \.integer),
            received: try reader.value("received", \.integer), toReceive: try reader.optional("to_receive", \.integer))
    }
}

extension QueueReceipt {
    package init(reading json: JSONValue) throws(StatusReadingError) {
        let reader = try StatusReader(json)
        self.init(id: try reader.value("id", \.integer), isKept: try reader.value("kept", \.bool))
    }
}

extension QueueItemExplanation {
    package init(reading json: JSONValue) throws(StatusReadingError) {
        let reader = try StatusReader(json)
        self.init(
            item: try QueueItem(reader.object("request")),
            reasons: try reader.objects("reasons").map { reader throws(StatusReadingError) in try Reason(reader) },
            interface: try reader.optional("interface", \.string))
    }
}

extension QueueItemExplanation.Reason {
    fileprivate init(_ reader: StatusReader) throws(StatusReadingError) {
        let since = try reader.value("since_boottime_ns", \.integer)
        let until = try reader.optional("until_boottime_ns", \.integer)
        let untilTime = try reader.optionalTime("until")
        self.init(
            blocker: try reader.value("blocker", \.string),
            since: Instant(wall: try reader.time("since"), boot: BootTime(nanoseconds: since)),
            until: until.flatMap { boot in
                untilTime.map { Instant(wall: $0, boot: BootTime(nanoseconds: boot)) }
            },
            text: try reader.value("text", \.string), remedy: try reader.value("remedy", \.string))
    }
}

extension QueueAnswer {
    package init(reading json: JSONValue) throws(StatusReadingError) {
        let reader = try StatusReader(json)
        guard let status: Int = try reader.number("status") else { throw reader.fault("status") }
        guard let bytes = Base64.decode(Array(try reader.value("data", \.string).utf8)) else {
            throw reader.fault("data")
        }
        self.init(
            id: try reader.value("id", \.integer), state: try reader.value("state", \.string), status: status,
            headers: try reader.objects("headers").map { header throws(StatusReadingError) in
                HTTPField(try header.value("name", \.string), try header.value("value", \.string))
            },
            bodyBytes: try reader.value("body_bytes", \.integer), offset: try reader.value("offset", \.integer),
            bytes: bytes)
    }
}

extension QueueNotice {
    /// - Returns: `nil` for the event that only says that the watch has begun.
    package init?(reading json: JSONValue) throws(StatusReadingError) {
        let reader = try StatusReader(json)
        switch try reader.value("event", \.string) {
        case "watching": return nil
        case "progress":
            self = .progress(try QueueProgress(reader, of: reader.value("id", \.integer)))
        case let event: self = .event(try QueueEventRecord(event, reader))
        }
    }
}

extension QueueEventRecord {
    fileprivate init(_ event: String, _ reader: StatusReader) throws(StatusReadingError) {
        self.init(event, at: try reader.moment(), epoch: try reader.number("epoch") ?? 0)
        id = try reader.optional("id", \.integer)
        user = try reader.number("user")
        attempt = try reader.number("attempt")
        reason = try reader.optional("reason", \.string)
        status = try reader.number("status")
        interface = try reader.optional("interface", \.string)
        blockers = try reader.texts("blockers")
        notBefore = try reader.optionalTime("not_before")
        destination = try reader.optional("destination", \.string)
        when = try reader.optional("when", \.string)
        count = try reader.number("count")
    }
}

extension StatusReader {
    fileprivate func optionalTime(_ name: String) throws(StatusReadingError) -> Timestamp? {
        try optional(name, \.string) == nil ? nil : try time(name)
    }
}
