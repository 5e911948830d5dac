internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachQueue

/// A request that a command adds to the queue, with the files of its body.
struct QueueAddition {
    private var specification: RequestSpecification
    private let upload: QueueBodyFile?
    private let form: CurlForm?

    /// - Throws: ``CommandError`` if the request is invalid or a file cannot be read. Nothing has been sent then.
    init(_ curl: CurlRequest, to url: String, _ conditions: QueueConditionOptions) throws(CommandError) {
        // What makes resumable uploads mostly ends with a slash, and names them itself.
        specification = try curl.specification(to: url, keepsURL: conditions.uploadProtocol != nil)
        try conditions.apply(to: &specification)
        // -T alone means PUT elsewhere.
        if specification.uploadProtocol != nil, curl.method == nil { specification.method = "POST" }
        upload = curl.upload.map { QueueBodyFile($0) }
        form = curl.parts.isEmpty ? nil : CurlForm(curl.parts)
        if let join = specification.uniqueness.joinForm {
            guard upload == nil, form == nil else {
                throw CurlRequest.refusal("--join goes with -d: a file of -T and a form of -F are not joined")
            }
            // What -d has for a form is wrong for these.
            if !curl.headers.contains(where: { $0.isNamed("Content-Type") }) {
                specification.headers.removeAll { $0.isNamed("Content-Type") }
                specification.headers.append(
                    HeaderField("Content-Type", join == .json ? "application/json" : "text/plain"))
            }
        }
        if let form { specification.headers.append(form.contentType) }
        try upload?.check()
        try form?.check()
    }

    /// Uploads the body, and adds the request.
    func add(to queue: QueueOptions) throws(CommandError) -> QueueReceipt {
        var specification = specification
        return try queue.ask { client throws(ControlError) in
            if let upload {
                specification.body = .spooled(name: try upload.upload(through: &client), bytes: 0)
            } else if let form {
                specification.body = .spooled(name: try form.upload(through: &client), bytes: 0)
            }
            return try client.add(specification)
        }
    }

    /// The request for people, with the values that may be secrets left out: what `--dry-run` prints.
    var description: String {
        var lines = ["\(specification.method) \(specification.url)"]
        for field in specification.headers {
            lines.append("\(field.name): \(field.isHarmless ? field.value : "(not shown)")")
        }
        switch (upload, form, specification.body) {
        case (let file?, _, _):
            lines.append("body: from \(file.path == "-" ? "standard input" : ByteText.shown(file.path))")
        case (_, let form?, _):
            lines.append("body: a form of \(form.parts.count) part\(form.parts.count == 1 ? "" : "s")")
        case (_, _, .inline(let bytes)): lines.append("body: \(bytes.count) bytes")
        case (nil, nil, .none), (nil, nil, .file), (nil, nil, .spooled): break
        }
        if let resumed = specification.uploadProtocol { lines.append("resumed by: \(resumed.rawValue)") }
        if let proxy = specification.proxy.text { lines.append("proxy: \(proxy)") }
        lines.append("sent when: \(specification.condition)")
        lines.append("priority: \(specification.priority)")
        if let attempts = specification.maximumAttempts { lines.append("attempts: at most \(attempts)") }
        if let limit = specification.timeToLive { lines.append("expires after: \(DurationText.describe(limit))") }
        return lines.map { DisplayText.sanitized($0) + "\n" }.joined()
    }
}
