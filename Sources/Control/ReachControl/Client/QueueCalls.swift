package import ReachClient
internal import ReachCore
package import ReachLoop
package import ReachQueue

/// Calls of io.reach.Queue.
extension ControlClient {
    /// Adds a request that the daemon can accept. Uploads a body that is too large for one message in pieces first.
    package mutating func add(_ request: RequestSpecification) throws(ControlError) -> QueueReceipt {
        var head = request
        if case .inline(let bytes) = request.body, bytes.count > QueueUpload.pieceBytes {
            head.body = .spooled(name: "", bytes: Int64(bytes.count))
        }
        try Self.checkLimits(of: head)
        var request = request
        if case .inline(let bytes) = request.body, bytes.count > QueueUpload.pieceBytes {
            var name: String?
            var rest = bytes[...]
            while !rest.isEmpty {
                name = try upload(Array(rest.prefix(QueueUpload.pieceBytes)), to: name)
                rest = rest.dropFirst(QueueUpload.pieceBytes)
            }
            request.body = name.map { .spooled(name: $0, bytes: Int64(bytes.count)) } ?? .none
        }
        return try read("receipt", of: try callQueue("Add", request.parameters), QueueReceipt.init(reading:))
    }

    /// Checks the limits of the call before a long body is uploaded for nothing. What is too long is said in a sentence
    /// where there is one.
    private static func checkLimits(of request: RequestSpecification) throws(ControlError) {
        do throws(VarlinkError) {
            try CallLimits.all.check(VarlinkCall(QueueInterface.name + ".Add", request.parameters))
        } catch let excess {
            do throws(RequestValidationError) {
                try request.check(QueueLimits())
            } catch {
                throw .refused(QueueServiceError(error).varlink)
            }
            throw .refused(excess)
        }
    }

    /// Uploads a piece of a body.
    ///
    /// - Parameter name: The name that the first piece's call returned; `nil` for the first piece.
    /// - Returns: The name of the body.
    package mutating func upload(_ bytes: [UInt8], to name: String?) throws(ControlError) -> String {
        try upload(["data": .string(Base64.encode(bytes))], to: name)
    }

    /// Uploads a piece of a body in memory, of ``QueueUpload/memoryBytes`` at most.
    ///
    /// - Throws: ``ControlError/refused(_:)`` with `InvalidParameter` by a daemon that is too old to take it.
    package mutating func upload(_ memory: SealedMemory, to name: String?) throws(ControlError) -> String {
        try upload(["memory": .bool(true)], with: memory, to: name)
    }

    private mutating func upload(
        _ content: [String: JSONValue], with memory: SealedMemory? = nil, to name: String?
    ) throws(ControlError) -> String {
        var parameters = content
        if let name { parameters["name"] = .string(name) }
        let answer = try call(VarlinkCall(QueueInterface.name + ".Upload", parameters), with: memory, within: .all)
        guard let name = answer["name"]?.string else { throw .notUnderstood("'name' is missing") }
        return name
    }

    package mutating func requests(_ filter: QueueFilter) throws(ControlError) -> QueuePage {
        var parameters: [String: JSONValue] = [
            "after": .integer(filter.after), "limit": .integer(Int64(filter.limit)),
        ]
        if !filter.states.isEmpty {
            parameters["states"] = .array(filter.states.map(\.rawValue).sorted().map { .string($0) })
        }
        let answer = try callQueue("List", parameters)
        let items = try list("requests", of: answer, RequestReport.init(reading:))
        return QueuePage(items: items, next: answer["next"]?.integer, count: Int(answer["count"]?.integer ?? 0))
    }

    package mutating func request(_ id: Int64) throws(ControlError) -> RequestReport {
        try read("request", of: try callQueue("Show", ["id": .integer(id)]), RequestReport.init(reading:))
    }

    package mutating func explanation(ofRequest id: Int64) throws(ControlError) -> RequestReport {
        let answer = try callQueue("Explain", ["id": .integer(id)])
        return try read("explanation", of: answer, RequestReport.init(readingExplanation:))
    }

    package mutating func hold(_ selection: QueueSelection) throws(ControlError) {
        _ = try callQueue("Hold", selection.parameters)
    }

    package mutating func release(_ selection: QueueSelection) throws(ControlError) {
        _ = try callQueue("Release", selection.parameters)
    }

    /// Holds the queue of all users for the fleet, or releases it.
    package mutating func setFleetHold(_ isHeld: Bool, reason: String? = nil) throws(ControlError) {
        var parameters: [String: JSONValue] = ["held": .bool(isHeld)]
        if let reason { parameters["reason"] = .string(reason) }
        _ = try callQueue("HoldForFleet", parameters)
    }

    /// What holds the caller's queue as a whole, as far as this version knows.
    package mutating func queueHolds() throws(ControlError) -> [QueueHold] {
        let answer = try callQueue("Holds", [:])
        return try read("holds", of: answer) { json throws(StatusReadingError) in
            var holds: [QueueHold] = []
            for json in json.array ?? [] {
                guard json["by"]?.string.flatMap({ QueueHold.Source(rawValue: $0) }) != nil else { continue }
                holds.append(try QueueHold(reading: json))
            }
            return holds
        }
    }

    /// The caller's queue as a whole.
    package mutating func queueStatus() throws(ControlError) -> QueueStatus {
        try read("status", of: try callQueue("Status", [:]), QueueStatus.init(reading:))
    }

    package mutating func cancel(request id: Int64) throws(ControlError) {
        _ = try callQueue("Cancel", ["id": .integer(id)])
    }

    /// - Returns: The number of requests that are sent again.
    package mutating func retry(_ selection: QueueSelection, reason: String? = nil) throws(ControlError) -> Int {
        var parameters = selection.parameters
        if let reason { parameters["reason"] = .string(reason) }
        return Int(try callQueue("Retry", parameters)["count"]?.integer ?? 0)
    }

    /// Gets a part of the server's answer: at most ``QueueAnswer/longest`` bytes of the body.
    package mutating func answer(toRequest id: Int64, from offset: Int64 = 0) throws(ControlError) -> QueueAnswer {
        let answer = try callQueue("Result", ["id": .integer(id), "offset": .integer(offset)])
        return try read("answer", of: answer, QueueAnswer.init(reading:))
    }

    private mutating func callQueue(
        _ method: String, _ parameters: [String: JSONValue]
    ) throws(ControlError) -> [String: JSONValue] {
        try call(VarlinkCall(QueueInterface.name + "." + method, parameters), within: .all)
    }
}

extension QueueUpload {
    /// The length of a piece: encoded in base64, it leaves room in a message.
    package static let pieceBytes = 512 << 10
    /// The length of a piece in memory at most: it is written in one go, on the thread for files.
    package static let memoryBytes = 16 << 20
}

extension QueueSelection {
    fileprivate var parameters: [String: JSONValue] {
        switch self {
        case .request(let id): ["id": .integer(id)]
        case .all: ["all": .bool(true)]
        }
    }
}

extension ControlSubscription {
    /// Watches a request, or all that the caller may see if `id` is `nil`. The events are
    /// ``StreamEvent/other(_:type:_:)``, for ``QueueNotice`` to read.
    package convenience init(
        path: String, request id: Int64?, patience: Duration = .seconds(1), on loop: EventLoop,
        handler: @escaping Handler
    ) throws(ControlError) {
        let parameters: [String: JSONValue] = id.map { ["id": .integer($0)] } ?? [:]
        try self.init(
            path: path, VarlinkCall(QueueInterface.name + ".Watch", parameters, wantsMore: true),
            within: .all, patience: patience, on: loop, handler: handler)
    }
}
