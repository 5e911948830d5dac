internal import ReachCore
internal import ReachQueue

/// How parts of a request are written into columns.
enum RequestColumns {
    /// One header a line, as HTTP has them: neither names nor values can hold a line break.
    static func text(of headers: [HeaderField]) -> String {
        let length = headers.reduce(0) { $0 + $1.lineBytes }
        if length == 0 { return "" }
        return String(unsafeUninitializedCapacity: length) { buffer in
            var place = 0
            func append(_ part: String) {
                var part = part
                part.withUTF8 { place = buffer[place...].initialize(fromContentsOf: $0) }
            }
            for header in headers {
                append(header.name)
                append(": ")
                append(header.value)
                append("\r\n")
            }
            return place
        }
    }

    static func headers(_ text: String) -> [HeaderField] {
        if text.isEmpty { return [] }
        // Swift takes CR LF for one character.
        return text.textLines.compactMap { line in
            guard let colon = line.unicodeScalars.firstIndex(of: ":") else { return nil }
            let value = line[line.unicodeScalars.index(after: colon)...]
            return HeaderField(String(line[..<colon]), String(value.after(" ") ?? value))
        }
    }

    // MARK: Bodies

    struct Body {
        var kind: Int64
        var path: String?
        var bytes: Int64
    }

    static func columns(of body: RequestBody) -> Body {
        switch body {
        case .none: Body(kind: 0, path: nil, bytes: 0)
        case .inline: Body(kind: 1, path: nil, bytes: body.count)
        case .file(let path, _): Body(kind: 2, path: path, bytes: body.count)
        case .spooled(let name, _): Body(kind: 3, path: name, bytes: body.count)
        }
    }

    static func body(_ columns: Body, inline: () throws(SQLiteError) -> [UInt8]) throws(SQLiteError) -> RequestBody {
        switch (columns.kind, columns.path) {
        case (1, _): .inline(try inline())
        case (2, let path?): .file(path: path, bytes: columns.bytes)
        case (3, let name?): .spooled(name: name, bytes: columns.bytes)
        default: .none
        }
    }

    // MARK: Breakers

    /// What stands for a breaker's interface and owner: no interface's name has a slash.
    static func breakerPlace(_ interface: String, of owner: UInt32) -> String { "\(owner)/\(interface)" }

    /// - Returns: `nil` for a row without an owner.
    static func breakerPlace(_ text: String) -> (owner: UInt32, interface: String)? {
        let parts = text.split(scalar: "/", maxSplits: 1)
        guard parts.count == 2, let owner = UInt32(parts[0]) else { return nil }
        return (owner, String(parts[1]))
    }
}
