/// One event of an event stream.
public struct ServerSentEvent: Hashable, Sendable {
    /// The type, which the field `event` gives; `message` without one.
    public var type: String
    /// The data: the fields `data`, with line ends between them.
    public var data: String
    /// The last event ID at this event, also where an earlier one set it; empty if none did.
    public var id: String

    /// Creates an event.
    public init(type: String = "message", data: String, id: String = "") {
        self.type = type
        self.data = data
        self.id = id
    }
}

/// Reads an event stream (HTML standard, section 9.2.6) from bytes that arrive in pieces.
public struct ServerSentEventParser: Sendable {
    private var splitter: LineSplitter
    private let limit: Int
    private var isFirstLine = true
    private var type = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var nextID: String

    /// The ID of the last event, for the header `Last-Event-ID` of the next connection; empty if there is none.
    public private(set) var lastEventID: String
    /// The time to wait before the next connection, if the server gave one.
    public private(set) var reconnectionTime: Duration?

    /// - Parameters:
    ///   - lastEventID: The ID of the last event of an earlier connection.
    ///   - limit: The most bytes of a line, and of the data of an event.
    public init(lastEventID: String = "", limit: Int = 1 << 20) {
        self.lastEventID = lastEventID
        self.limit = limit
        nextID = lastEventID
        splitter = LineSplitter(ends: .any, limit: limit)
    }

    /// Adds the next bytes of the stream.
    ///
    /// - Returns: The events that are complete.
    /// - Throws: An error if a line or the data of an event exceeds the limit.
    public mutating func append(_ bytes: some Sequence<UInt8>) throws(LineTooLong) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for line in try splitter.append(bytes) {
            var line = line[...]
            if isFirstLine, line.starts(with: [0xef, 0xbb, 0xbf]) { line = line.dropFirst(3) }
            isFirstLine = false
            if line.isEmpty { if let event = dispatch() { events.append(event) } } else { try read(line) }
        }
        return events
    }

    private mutating func read(_ line: ArraySlice<UInt8>) throws(LineTooLong) {
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        var value = colon.map { line[line.index(after: $0)...] } ?? []
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self) {
        case "event": type = String(decoding: value, as: UTF8.self)
        case "data":
            guard data.count + value.count < limit else { throw LineTooLong(limit: limit) }
            if hasData { data.append(UInt8(ascii: "\n")) }
            data += value
            hasData = true
        case "id": if !value.contains(0) { nextID = String(decoding: value, as: UTF8.self) }
        case "retry":
            guard !value.isEmpty, value.allSatisfy({ 48...57 ~= $0 }),
                let milliseconds = Int64(String(decoding: value, as: UTF8.self))
            else { return }
            reconnectionTime = .milliseconds(milliseconds)
        default: break
        }
    }

    /// Ends an event at an empty line. One without data only sets the ID.
    private mutating func dispatch() -> ServerSentEvent? {
        defer { (type, data, hasData) = ("", [], false) }
        lastEventID = nextID
        guard hasData else { return nil }
        return ServerSentEvent(
            type: type.isEmpty ? "message" : type, data: String(decoding: data, as: UTF8.self), id: lastEventID)
    }
}
