internal import ArgumentParser
internal import ReachCore
internal import ReachQueue

/// The request itself, by curl's names.
struct QueueRequestOptions: ParsableArguments {
    @Option(
        name: [.customShort("X"), .customLong("request")],
        help: ArgumentHelp("The method; by default GET, with -d or -F POST, with -T PUT.", valueName: "method"),
        completion: .list(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]))
    var method: String?

    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp(
            "A header; @FILE reads headers from a file, one on each line, and keeps them from the list of processes. "
                + "May be given several times.",
            valueName: "name: value"))
    var headers: [String] = []

    @Option(
        name: [.customShort("A"), .customLong("user-agent")],
        help: ArgumentHelp("The value of the header User-Agent.", valueName: "name"))
    var userAgent: String?

    @Option(
        name: [.customShort("u"), .customLong("user")],
        help: ArgumentHelp(
            "Basic credentials. Other users can see them in the list of processes; -H @FILE hides them.",
            valueName: "user:password"))
    var user: String?

    @Option(
        name: [.customShort("d"), .customLong("data"), .customLong("data-binary")],
        help: ArgumentHelp(
            "The body, unchanged; @FILE reads it from a file, @- from standard input. Several are joined by &.",
            valueName: "data"))
    var data: [String] = []

    @Option(
        name: .customLong("data-raw"),
        help: ArgumentHelp("As -d, but @ has no meaning. Follows all -d.", valueName: "data"))
    var rawData: [String] = []

    @Option(
        name: .customLong("data-urlencode"),
        help: ArgumentHelp(
            "As -d, percent-encoded: TEXT, NAME=TEXT, @FILE or NAME@FILE. Follows all -d and --data-raw.",
            valueName: "data"))
    var encodedData: [String] = []

    @Flag(name: [.customShort("G"), .customLong("get")], help: "Append the data to the URL's query instead.")
    var isQuery = false

    @Option(
        name: [.customShort("F"), .customLong("form")],
        help: ArgumentHelp(
            "A part of a multipart/form-data body: NAME=TEXT, NAME=@FILE or NAME=<FILE, with ;type=TYPE "
                + "or ;filename=NAME after the file. May be given several times.",
            valueName: "part"))
    var parts: [String] = []

    @Option(
        name: [.customShort("T"), .customLong("upload-file")],
        help: ArgumentHelp("Send this file as the body; - is standard input.", valueName: "file"), completion: .file())
    var uploadFile: String?

    @Option(
        name: [.customShort("x"), .customLong("proxy")],
        help: ArgumentHelp(
            "Send through this proxy: http://, socks5:// or socks5h:// with HOST:PORT, or none; otherwise as "
                + "reach.toml(5) says.",
            valueName: "url"))
    var proxy: String?

    @Option(
        name: .customLong("retry"),
        help: ArgumentHelp("Retry so many times: the same as --max-attempts with one more.", valueName: "number"))
    var retries: String?

    @Flag(
        name: [.customShort("L"), .customLong("location")],
        help: "Follow redirects, up to 20. Credentials are sent to the server that they were given for only.")
    var followsRedirects = false

    @Flag(name: .customLong("compressed"), help: "Let the server compress the answer; it is stored unpacked.")
    var isCompressed = false

    @OptionGroup var curl: QueueCurlOptions

    /// - Throws: ``CommandError`` if a value is invalid, or a file of `-d` or `-H` cannot be read.
    func curlRequest() throws(CommandError) -> CurlRequest {
        var request = CurlRequest()
        request.method = method
        for header in headers { request.headers += try QueueArgument.headers(header) }
        if let userAgent { request.headers += try QueueArgument.headers("User-Agent: " + userAgent) }
        request.user = user
        request.data = data.map { .textOrFile(ByteText.bytes(of: $0)) } + rawData.map { .text(ByteText.bytes(of: $0)) }
        request.data += encodedData.map { .encoded(ByteText.bytes(of: $0)) }
        request.followsRedirects = followsRedirects
        request.isCompressed = isCompressed
        request.isQuery = isQuery
        for part in parts { request.parts.append(try CurlForm.Part(part)) }
        request.upload = uploadFile
        request.proxy = proxy
        try curl.apply(to: &request)
        if let retries { request.maximumAttempts = try CurlCommand.attempts(retries: retries) }
        return request
    }
}
