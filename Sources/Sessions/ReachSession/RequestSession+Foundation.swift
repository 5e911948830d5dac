public import FoundationEssentials
public import HTTPTypes
public import ReachSerialization

/// Files by their URLs.
extension RequestSession {
    /// Sends a file. The file is read while it is sent: it must not change until then, even if a later run sends it.
    ///
    /// - Parameters:
    ///   - file: The URL of a readable regular file.
    ///   - url: The destination, as for other requests.
    ///   - method: PUT is safe to repeat; POST gets a key by which the server can recognise repetitions.
    public func upload(
        file: URL, to url: some URLConvertible, method: String = "PUT", headers: HTTPFields = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try upload(
            file: Self.path(of: file), to: url, method: method, headers: headers, when: constraint, options: options,
            completion: completion)
    }

    /// Downloads to a file.
    ///
    /// - Parameters:
    ///   - url: The source, as for other requests.
    ///   - file: The URL of the file.
    ///   - parameters: Parameters of the query.
    public func download(
        _ url: some URLConvertible, to file: URL, parameters: ParameterValue? = nil, headers: HTTPFields = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try download(
            url, to: Self.path(of: file), parameters: parameters, headers: headers, when: constraint, options: options,
            completion: completion)
    }

    private static func path(of file: URL) throws(RequestError) -> String {
        guard file.isFileURL else {
            throw RequestError(.request, "bad-path", "the URL of a file begins with file:")
        }
        return file.path(percentEncoded: false)
    }
}
