internal import ReachControl
internal import ReachCore
internal import ReachLoop

/// A body of multipart/form-data (RFC 7578) from curl's `-F`. It is uploaded piece by piece, so that a file need not
/// fit into memory.
struct CurlForm {
    struct Part: Equatable {
        enum Content: Equatable {
            case text(String)
            /// `<FILE`: the content alone.
            case contentOf(String)
            /// `@FILE`: a file with its name.
            case file(String)
        }

        var name: String
        var content: Content
        var fileName: String?
        var type: String?

        /// - Parameter text: `NAME=TEXT`, `NAME=@FILE` or `NAME=<FILE`, the last two with `;type=TYPE` and
        ///   `;filename=NAME` behind them.
        /// - Parameter isCurls: Whether a text may be quoted and have a type, too, as in curl.
        init(_ text: String, isCurls: Bool = false) throws(CommandError) {
            guard let mark = text.unicodeScalars.firstIndex(of: "="), mark != text.startIndex else {
                throw CurlRequest.refusal("-F: '\(text)' is not of the form NAME=CONTENT or NAME=@FILE")
            }
            name = String(text[..<mark])
            let value = text[text.unicodeScalars.index(after: mark)...]
            let file = value.after("@"), other = value.after("<")
            guard isCurls || file != nil || other != nil else {
                content = .text(String(value))
                return
            }
            // Quotes keep a semicolon, and Postman writes them around each name of a file.
            let words = QuotedText.split(file ?? other ?? value, at: ";")
            let first = words.first.map(Self.unquoted) ?? ""
            content = file != nil ? .file(first) : other != nil ? .contentOf(first) : .text(first)
            if file != nil { fileName = first == "-" ? "-" : first.split(scalar: "/").last.map(String.init) }
            for word in words.dropFirst().map(\.trimmed) {
                if let type = word.after("type=") {
                    self.type = Self.unquoted(type)
                } else if let name = word.after("filename=") {
                    fileName = Self.unquoted(name)
                } else {
                    throw CurlRequest.refusal("-F: '\(word)' is neither type=TYPE nor filename=NAME")
                }
            }
        }

        /// `--form-string`: the text has no marks of its own.
        init(literally text: String) throws(CommandError) {
            guard let (name, value) = text.cut(at: "="), !name.isEmpty else {
                throw CurlRequest.refusal("--form-string: '\(text)' is not of the form NAME=CONTENT")
            }
            (self.name, content) = (String(name), .text(String(value)))
        }

        private static func unquoted(_ text: Substring) -> String { QuotedText.content(of: text) ?? String(text) }

        /// The fields of its head.
        var fields: [(name: String, value: [UInt8])] {
            let disposition = MultipartEncoder.disposition(name: name, fileName: fileName)
            let type = type ?? (fileName == nil ? nil : "application/octet-stream")
            return [("Content-Disposition", ByteText.bytes(of: disposition))]
                + (type.map { [("Content-Type", $0.utf8.filter { $0 != 0x0d && $0 != 0x0a })] } ?? [])
        }

        var path: String? {
            switch content {
            case .text: nil
            case .contentOf(let path), .file(let path): path
            }
        }
    }

    let parts: [Part]
    let boundary: String

    /// - Parameter number: Random, so that no content has the boundary by chance.
    init(_ parts: [Part], number: UInt64 = .random(in: .min ... .max)) {
        self.parts = parts
        boundary = "reach-" + String(number, radix: 36)
    }

    var contentType: HeaderField { HeaderField("Content-Type", "multipart/form-data; boundary=" + boundary) }

    /// Refuses files that cannot be read, before the daemon is asked.
    func check() throws(CommandError) {
        for path in parts.compactMap(\.path) { try QueueBodyFile(path).check() }
    }

    /// - Returns: The upload's name, which the daemon chose.
    func upload(through client: inout ControlClient) throws(ControlError) -> String {
        var (uploader, encoder) = (PieceUploader(), MultipartEncoder(boundary: boundary))
        for part in parts {
            try uploader.append(encoder.head(part.fields), through: &client)
            switch part.content {
            case .text(let text): try uploader.append(ByteText.bytes(of: text), through: &client)
            case .contentOf(let path), .file(let path):
                try QueueBodyFile(path).append(to: &uploader, through: &client)
            }
        }
        try uploader.append(encoder.end, through: &client)
        return try uploader.finish(through: &client)
    }
}

/// Collects the bytes of a body into pieces as large as one call allows; only the last one is smaller.
struct PieceUploader {
    private var name: String?
    private var pending: [UInt8] = []

    mutating func append(_ bytes: [UInt8], through client: inout ControlClient) throws(ControlError) {
        pending += bytes
        while pending.count >= QueueUpload.pieceBytes {
            name = try client.upload(Array(pending.prefix(QueueUpload.pieceBytes)), to: name)
            pending.removeFirst(QueueUpload.pieceBytes)
        }
    }

    /// - Returns: `false` if the daemon takes no memory.
    mutating func append(_ memory: SealedMemory, through client: inout ControlClient) throws(ControlError) -> Bool {
        if !pending.isEmpty { name = try client.upload(pending, to: name) }
        pending = []
        do throws(ControlError) {
            name = try client.upload(memory, to: name)
            return true
        } catch .refused(.invalidParameter("memory")), .refused(.invalidParameter("data")) {
            return false
        }
    }

    /// - Returns: The name of the body, which may be empty.
    mutating func finish(through client: inout ControlClient) throws(ControlError) -> String {
        if let name, pending.isEmpty { return name }
        return try client.upload(pending, to: name)
    }
}
