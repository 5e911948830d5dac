internal import ArgumentParser
internal import ReachControl
internal import ReachCore

/// The request itself, by curl's letters.
struct QueueRequestOptions: ParsableArguments {
    @Option(
        name: [.customShort("X"), .customLong("request")],
        help: ArgumentHelp("The method; GET, POST with -d, PUT with -T if nothing is given.", valueName: "method"))
    var method: String?

    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp("A header. May be given several times.", valueName: "name: value"),
        transform: { try QueueArgument.header($0) })
    var headers: [QueueHeader] = []

    @Option(
        name: [.customShort("d"), .customLong("data")],
        help: ArgumentHelp(
            "The body, or @ and the file that it is in, @- for standard input; as it is. Several are joined by &.",
            valueName: "data"))
    var data: [String] = []

    @Option(
        name: [.customShort("T"), .customLong("upload-file")],
        help: ArgumentHelp("Send this file as the body; - is standard input.", valueName: "file"))
    var uploadFile: String?

    func validate() throws {
        if !data.isEmpty && uploadFile != nil { throw ValidationError("-d and -T exclude each other") }
    }

    /// - Throws: ``CommandError`` when a file of `-d` cannot be read.
    func submission(to url: String) throws(CommandError) -> QueueSubmission {
        var submission = QueueSubmission(url: QueueArgument.url(url, uploading: uploadFile))
        submission.headers = headers
        submission.method = method ?? (uploadFile != nil ? "PUT" : data.isEmpty ? nil : "POST")
        guard !data.isEmpty else { return submission }
        var body: [UInt8] = []
        for (number, text) in data.enumerated() {
            if number > 0 { body.append(UInt8(ascii: "&")) }
            body += text.hasPrefix("@") ? try QueueBodyFile(String(text.dropFirst())).read() : Array(text.utf8)
        }
        submission.body = .bytes(body)
        // As curl says of what -d holds.
        if !headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            submission.headers.append(QueueHeader("Content-Type", "application/x-www-form-urlencoded"))
        }
        return submission
    }
}
