internal import ArgumentParser
internal import ReachCore
internal import ReachQueue

/// The request itself, by curl's letters.
struct QueueRequestOptions: ParsableArguments {
    @Option(
        name: [.customShort("X"), .customLong("request")],
        help: ArgumentHelp("The method; by default GET, with -d POST, with -T PUT.", valueName: "method"))
    var method: String?

    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp("A header. May be given several times.", valueName: "name: value"),
        transform: { try QueueArgument.header($0) })
    var headers: [HeaderField] = []

    @Option(
        name: [.customShort("d"), .customLong("data")],
        help: ArgumentHelp(
            "The body, unchanged; @FILE reads it from a file, @- from standard input. Several are joined by &.",
            valueName: "data"))
    var data: [String] = []

    @Option(
        name: [.customShort("T"), .customLong("upload-file")],
        help: ArgumentHelp("Send this file as the body; - is standard input.", valueName: "file"))
    var uploadFile: String?

    func validate() throws {
        if !data.isEmpty && uploadFile != nil { throw ValidationError("-d and -T exclude each other") }
    }

    /// - Throws: ``CommandError`` if the URL is invalid, or a file of `-d` cannot be read.
    func specification(to url: String) throws(CommandError) -> RequestSpecification {
        var request: RequestSpecification
        do throws(RequestValidationError) {
            request = try RequestSpecification(
                method: method ?? (uploadFile != nil ? "PUT" : data.isEmpty ? "GET" : "POST"),
                url: QueueArgument.url(url, uploading: uploadFile), headers: headers)
        } catch {
            throw CommandError(error)
        }
        guard !data.isEmpty else { return request }
        var body: [UInt8] = []
        for (number, text) in data.enumerated() {
            if number > 0 { body.append(UInt8(ascii: "&")) }
            body += text.hasPrefix("@") ? try QueueBodyFile(String(text.dropFirst())).read() : Array(text.utf8)
        }
        request.body = .inline(body)
        // The type that curl sends with -d.
        if !headers.contains(where: { $0.isNamed("Content-Type") }) {
            request.headers.append(HeaderField("Content-Type", "application/x-www-form-urlencoded"))
        }
        return request
    }
}
