internal import ReachQueue
public import ReachSerialization

/// Uploads and downloads, as AFURLSessionManager has them.
extension RequestSession {
    /// Sends a file, which is read while it is sent: until then it must stay as it is, also for a later run.
    ///
    /// - Parameters:
    ///   - path: A regular file that can be read.
    ///   - url: Where to, as for other requests.
    ///   - method: PUT may be sent twice; POST is given a key by which the server can tell repetitions.
    public func upload(
        file path: String, to url: String, method: String = "PUT", headers: [String: String] = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        var request = try bare(method, url)
        do throws(BodyFileError) {
            try request.setBody(file: path)
        } catch {
            throw RequestError(error)
        }
        return try task(request, headers, constraint, options, kind: .upload, completion)
    }

    /// Sends bytes.
    public func upload(
        _ bytes: [UInt8], to url: String, method: String = "PUT", headers: [String: String] = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        var request = try bare(method, url)
        request.body = .bytes(bytes)
        return try task(request, headers, constraint, options, kind: .upload, completion)
    }

    /// Puts the body of a success into a file. It is written beside that place, and renamed when it is whole; what was
    /// there before is replaced then. The body of any other answer is held in memory, for its error.
    ///
    /// What is interrupted is gone on with where the server can (a strong ETag, ranges): by itself within this task, and
    /// later by ``RequestError/resumeData`` and ``RequestTask/cancelProducingResumeData()``.
    ///
    /// - Parameters:
    ///   - url: As for other requests.
    ///   - path: Where it goes.
    ///   - parameters: In the query.
    public func download(
        _ url: String, to path: String, parameters: ParameterValue? = nil, headers: [String: String] = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try check(path)
        return try task(
            write("GET", url, parameters), headers, constraint, options, kind: .download, to: path, completion)
    }

    /// Goes on with a download.
    ///
    /// - Parameter resumeData: Of one that was cancelled or failed, in this process or before.
    public func download(
        resuming resumeData: ResumeData, headers: [String: String] = [:], when constraint: RequestConstraint? = nil,
        options: RequestOptions? = nil, completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try task(
            bare("GET", resumeData.url), headers, constraint, options, kind: .download, to: resumeData.destination,
            resuming: resumeData, completion)
    }

    /// A request with the serializer's headers and nothing else, whatever the method.
    private func bare(_ method: String, _ url: String) throws(RequestError) -> HTTPRequest {
        let written = try write("GET", url)
        do throws(RequestSerializationError) {
            return try HTTPRequest(method: method, address: written.address, headers: written.headers)
        } catch {
            throw RequestError(error)
        }
    }

    private func check(_ path: String) throws(RequestError) {
        guard !path.isEmpty, !path.hasSuffix("/"), !path.utf8.contains(0) else {
            throw RequestError(.request, "bad-path", "a download needs the path of a file")
        }
    }
}

extension RequestTask {
    /// Cancels a download so that it can be gone on with.
    ///
    /// - Returns: What to go on with; `nil` where nothing is there yet, or the server can send only all of it.
    public func cancelProducingResumeData() async -> ResumeData? {
        guard kind == .download else {
            cancel()
            return nil
        }
        let resumeData: ResumeData? = await withCheckedContinuation { continuation in
            let isAsked = core.perform { desk in
                desk.breakOff(self) { continuation.resume(returning: $0) }
            }
            if !isAsked { continuation.resume(returning: nil) }
        }
        cancel()
        return resumeData
    }
}
