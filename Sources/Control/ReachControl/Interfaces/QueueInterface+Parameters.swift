internal import ReachCore
internal import ReachLoop

/// The parameters of io.reach.Queue. One of the wrong type is the caller's mistake in Varlink; one whose text makes no
/// sense is for the queue to refuse.
extension ControlRequest {
    private func value<Value>(_ name: String, _ type: (JSONValue) -> Value?) throws(VarlinkError) -> Value? {
        guard let member = call.parameters[name], member != .null else { return nil }
        guard let value = type(member) else { throw .invalidParameter(name) }
        return value
    }

    /// A number that is not negative.
    func natural(_ name: String) throws(VarlinkError) -> Int64? {
        guard let number = try value(name, \.integer) else { return nil }
        guard number >= 0 else { throw .invalidParameter(name) }
        return number
    }

    func flag(_ name: String) throws(VarlinkError) -> Bool { try optionalFlag(name) ?? false }

    func optionalFlag(_ name: String) throws(VarlinkError) -> Bool? { try value(name, \.bool) }

    /// A piece of a body: in the message, or in memory whose descriptor came with it.
    func pieceContent() throws(VarlinkError) -> QueueUpload.Piece.Content {
        guard try optionalFlag("memory") ?? false else {
            guard let bytes = try bytes("data") else { throw .invalidParameter("data") }
            return .bytes(bytes)
        }
        guard try text("data") == nil, let memory = passedMemory, memory.count <= QueueUpload.memoryBytes else {
            throw .invalidParameter("memory")
        }
        return .memory(memory)
    }

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

    /// Requests on one page, whatever is asked for: no one's page keeps others waiting.
    private static let longestPage: Int64 = 256

    func filter() throws(VarlinkError) -> QueueFilter {
        var filter = QueueFilter()
        for state in try value("states", \.array) ?? [] {
            guard let word = state.string else { throw .invalidParameter("states") }
            do throws(QueueServiceError) {
                filter.states.insert(try QueueFilter.state(word))
            } catch {
                throw error.varlink
            }
        }
        filter.after = try natural("after") ?? 0
        filter.limit = Int(min(try natural("limit") ?? 100, Self.longestPage))
        return filter
    }
}
