public import FoundationEssentials
internal import ReachCore
internal import ReachQueue
public import ReachSerialization
internal import Synchronization

// The verbs of a session that move files, bytes and streams; all others are in RequestSession+Verbs.swift.
//
// 1. Downloads to a file, and their resumption: download, cancelProducingResumeData
// 2. Uploads of files, bytes and streams: upload

// MARK: - 1. Downloads

/// Downloads, as AFURLSessionManager has them.
extension RequestSession {
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
        _ url: some URLConvertible, to path: String, parameters: ParameterValue? = nil, headers: Headers = [:],
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

    /// Downloads to a file.
    ///
    /// - Parameters:
    ///   - url: The source, as for other requests.
    ///   - file: The URL of the file.
    ///   - parameters: Parameters of the query.
    public func download(
        _ url: some URLConvertible, to file: URL, parameters: ParameterValue? = nil, headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try download(
            url, to: Self.path(of: file), parameters: parameters, headers: headers, when: constraint, options: options,
            completion: completion)
    }

    /// Downloads to a file, with parameters in the query.
    @_disfavoredOverload
    public func download(
        _ url: some URLConvertible, to path: String, parameters: [String: any Encodable], headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try download(
            url, to: path, parameters: .dictionary(Self.members(parameters)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// Resumes a download. Where the bytes received are gone, it begins again. After a signed URL's time
    /// ``ResumeData/url`` can be set to a new one.
    ///
    /// - Parameter resumeData: The state of a download that was cancelled or failed, in this process or an earlier one.
    public func download(
        resuming resumeData: ResumeData, headers: Headers = [:], when constraint: RequestConstraint? = nil,
        options: RequestOptions? = nil, completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try task(
            bare("GET", resumeData.url), headers, constraint, options, kind: .download, to: resumeData.destination,
            resuming: resumeData.hasPart ? resumeData : nil, completion)
    }

    private func check(_ path: String) throws(RequestError) {
        guard !path.isEmpty, !path.hasUTF8Suffix("/"), !path.utf8.contains(0) else {
            throw RequestError(.request, "bad-path", "a download needs the path of a file")
        }
    }
}

extension RequestTask {
    /// Has a block choose the place of a download by the head of its response, as AFNetworking's destination block
    /// does. It is asked in this run only, on the session's thread, once for each response of a success; so it must not
    /// block. ``RequestHooks/disposition`` goes first.
    ///
    /// - Parameter block: Returns the path of the file, on the file system of the task's path where the download
    ///   resumes; `nil` for the task's path.
    /// - Returns: The task.
    @discardableResult
    public func chooseDestination(_ block: @escaping @Sendable (WebResponse) -> String?) -> RequestTask {
        state.withLock { $0.destination = block }
        return self
    }

    var destination: (@Sendable (WebResponse) -> String?)? { state.withLock { $0.destination } }

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

// MARK: - 2. Uploads

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
