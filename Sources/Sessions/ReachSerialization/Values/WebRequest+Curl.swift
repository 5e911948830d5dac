internal import HTTPTypes
internal import ReachCore

extension WebRequest {
    /// The command line of curl(1) that sends this request, for a POSIX shell: Alamofire's `cURLDescription()`.
    ///
    /// A body that is no text is decoded by base64(1), a file is named, and a form stands as the file `BODY`, into
    /// which ``MultipartBody/write(toFile:)`` writes it. The text has the request's credentials.
    public var curlCommand: String {
        var words = ["curl"]
        var source: String?
        if method == .head {
            words.append("--head")
        } else if method != .get || contentLength != nil {
            words += ["--request", Self.quoted(method.rawValue)]
        }
        for field in headers {
            // "Name:" would remove a field; "Name;" sends an empty one.
            let text = field.name.rawName + (field.value.isEmpty ? ";" : ": " + field.value)
            words += ["--header", Self.quoted(text)]
        }
        // With a body curl adds the type of a form.
        if contentLength != nil, headers[.contentType] == nil { words += ["--header", "'Content-Type:'"] }
        switch body {
        case .none: break
        case .bytes(let bytes):
            if let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) {
                words += ["--data-raw", Self.quoted(text)]
            } else {
                source = "printf %s '\(Base64.encode(bytes))' | base64 --decode | "
                words += ["--data-binary", "@-"]
            }
        case .file(let path, _): words += ["--data-binary", Self.quoted("@" + path)]
        case .multipart, .stream: words += ["--data-binary", "@BODY"]
        }
        // Brackets and braces in a URL are no patterns.
        if url.description.utf8.contains(where: { "[]{}".utf8.contains($0) }) { words.append("--globoff") }
        return (source ?? "") + (words + [Self.quoted(url.description)]).joined(separator: " ")
    }

    /// A word for a POSIX shell.
    private static func quoted(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { URLCharacters.isUnreserved($0) }
        return isPlain
            ? text
            : "'" + text.split(scalar: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}
