public import FoundationEssentials
public import ReachSerialization

/// Uploads of files, bytes and streams, as AFURLSessionManager has them.
extension RequestSession {
    /// Sends a file. The file is read while it is sent: it must not change until then, even if a later run sends it.
    ///
    /// - Parameters:
    ///   - path: A readable regular file.
    ///   - url: The destination, as for other requests.
    ///   - method: PUT is safe to repeat; POST gets a key by which the server can recognise repetitions.
    public func upload(
        file path: String, to url: some URLConvertible, method: String = "PUT", headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        var request = try bare(method, url.urlText)
        do throws(BodyFileError) {
            try request.setBody(file: path)
        } catch {
            throw RequestError(error)
        }
        return try task(request, headers, constraint, options, kind: .upload, completion)
    }

    /// Sends a file. The file is read while it is sent: it must not change until then, even if a later run sends it.
    ///
    /// - Parameters:
    ///   - file: The URL of a readable regular file.
    ///   - url: The destination, as for other requests.
    ///   - method: PUT is safe to repeat; POST gets a key by which the server can recognise repetitions.
    public func upload(
        file: URL, to url: some URLConvertible, method: String = "PUT", headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try upload(
            file: Self.path(of: file), to: url, method: method, headers: headers, when: constraint, options: options,
            completion: completion)
    }

    /// Sends bytes: `Data`, or an array of bytes.
    public func upload(
        _ bytes: some DataProtocol, to url: some URLConvertible, method: String = "PUT",
        headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        var request = try bare(method, url.urlText)
        request.body = .bytes(Array(bytes))
        return try task(request, headers, constraint, options, kind: .upload, completion)
    }

    /// Sends a body that is read while it is sent: from an asynchronous sequence, an open file or pipe, or a function.
    ///
    /// The source is read when the request is sent, no faster than the server accepts its bytes. A session with a
    /// directory reads it when the task is resumed, and stores it. ``BodyStream`` says what happens where a body is
    /// needed again.
    ///
    /// - Parameters:
    ///   - body: The source, with its length if that is known.
    ///   - url: The destination, as for other requests.
    ///   - method: PUT or POST, as the server wants it.
    public func upload(
        stream body: BodyStream, to url: some URLConvertible, method: String = "PUT", headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        var request = try bare(method, url.urlText)
        request.body = .stream(body)
        return try task(request, headers, constraint, options, kind: .upload, completion)
    }

    /// Creates a request with the serializer's headers and nothing else, whatever the method.
    func bare(_ method: String, _ url: String) throws(RequestError) -> WebRequest {
        let written = try write("GET", url)
        do throws(RequestSerializationError) {
            return try WebRequest(method: method, url: written.url, headers: written.headers)
        } catch {
            throw RequestError(error)
        }
    }

    static func path(of file: URL) throws(RequestError) -> String {
        guard file.isFileURL else {
            throw RequestError(.request, "bad-path", "the URL of a file begins with file:")
        }
        return file.path(percentEncoded: false)
    }
}
