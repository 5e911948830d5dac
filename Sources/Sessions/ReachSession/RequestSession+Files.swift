public import FoundationEssentials
public import HTTPTypes
internal import ReachCore
internal import ReachQueue
public import ReachSerialization

/// Uploads and downloads, as AFURLSessionManager has them.
extension RequestSession {
    /// Sends a file. The file is read while it is sent: it must not change until then, even if a later run sends it.
    ///
    /// - Parameters:
    ///   - path: A readable regular file.
    ///   - url: The destination, as for other requests.
    ///   - method: PUT is safe to repeat; POST gets a key by which the server can recognise repetitions.
    public func upload(
        file path: String, to url: some URLConvertible, method: String = "PUT", headers: HTTPFields = [:],
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

    /// Sends bytes: `Data`, or an array of bytes.
    public func upload(
        _ bytes: some DataProtocol, to url: some URLConvertible, method: String = "PUT",
        headers: HTTPFields = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        var request = try bare(method, url.urlText)
        request.body = .bytes(Array(bytes))
        return try task(request, headers, constraint, options, kind: .upload, completion)
    }

    /// Sends a body that is read while it is sent: from an asynchronous sequence, an open file or pipe, or a function.
    ///
    /// The source is read when the request is sent, no faster than the server accepts its bytes. A session with a directory
    /// reads it when the task is resumed, and stores it. ``BodyStream`` says what happens where a body is needed again.
    ///
    /// - Parameters:
    ///   - body: The source, with its length if that is known.
    ///   - url: The destination, as for other requests.
    ///   - method: PUT or POST, as the server wants it.
    public func upload(
        stream body: BodyStream, to url: some URLConvertible, method: String = "PUT", headers: HTTPFields = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        var request = try bare(method, url.urlText)
        request.body = .stream(body)
        return try task(request, headers, constraint, options, kind: .upload, completion)
    }

    /// Downloads to a file. The body of a success is written next to that path, and renamed when it is complete; an
    /// existing file is replaced then. The body of any other answer is held in memory, for the error.
    ///
    /// An interrupted download resumes where the server supports it (a strong ETag, ranges): automatically within this
    /// task, and later by ``RequestError/resumeData`` and ``RequestTask/cancelProducingResumeData()``.
    ///
    /// - Parameters:
    ///   - url: The source, as for other requests.
    ///   - path: The path of the file.
    ///   - parameters: Parameters of the query.
    public func download(
        _ url: some URLConvertible, to path: String, parameters: ParameterValue? = nil, headers: HTTPFields = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try check(path)
        if (options ?? core.options.requests).createsDirectories {
            try DirectoryMaker.makeParents(of: path)
        }
        return try task(
            write("GET", url.urlText, parameters), headers, constraint, options, kind: .download, to: path, completion)
    }

    /// Resumes a download.
    ///
    /// - Parameter resumeData: The state of a download that was cancelled or failed, in this process or an earlier one.
    public func download(
        resuming resumeData: ResumeData, headers: HTTPFields = [:], when constraint: RequestConstraint? = nil,
        options: RequestOptions? = nil, completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try task(
            bare("GET", resumeData.url), headers, constraint, options, kind: .download, to: resumeData.destination,
            resuming: resumeData, completion)
    }

    /// Creates a request with the serializer's headers and nothing else, whatever the method.
    func bare(_ method: String, _ url: String) throws(RequestError) -> WebRequest {
        let written = try write("GET", url)
        do throws(RequestSerializationError) {
            return try WebRequest(method: method, url: written.url, headerFields: written.headerFields)
        } catch {
            throw RequestError(error)
        }
    }

    private func check(_ path: String) throws(RequestError) {
        guard !path.isEmpty, !path.hasUTF8Suffix("/"), !path.utf8.contains(0) else {
            throw RequestError(.request, "bad-path", "a download needs the path of a file")
        }
    }
}

extension RequestTask {
    /// Cancels a download so that it can be resumed.
    ///
    /// - Returns: The state from which to resume; `nil` where no bytes have arrived, or the server can only send the
    ///   whole file.
    public func cancelProducingResumeData() async -> ResumeData? {
        guard kind == .download else {
            cancel()
            return nil
        }
        let resumeData: ResumeData? = await withCheckedContinuation { continuation in
            let isAsked = core.perform { sessionLoop in
                sessionLoop.interrupt(self) { continuation.resume(returning: $0) }
            }
            if !isAsked { continuation.resume(returning: nil) }
        }
        cancel()
        return resumeData
    }
}

/// Creates the directories of downloads.
enum DirectoryMaker {
    /// Creates the directories above a path that do not exist, with the permissions that umask(2) leaves.
    static func makeParents(of path: String) throws(RequestError) {
        let directory = path.split(scalar: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        guard !directory.isEmpty else { return }
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        } catch {
            var failure = RequestError(.local, "file-failed", "\(directory): the directory cannot be created")
            failure.underlyingError = error
            throw failure
        }
    }
}
