/// Which responses are what was asked for: AFHTTPResponseSerializer's `validateResponse`.
public struct ResponseCheck: Hashable, Sendable {
    /// `nil` for any.
    public var acceptableStatusCodes: StatusCodes?
    /// In small letters and without parameters; `nil` for any.
    public var acceptableContentTypes: Set<String>?

    /// By default any content of a success.
    public init(acceptableStatusCodes: StatusCodes? = .success, acceptableContentTypes: Set<String>? = nil) {
        self.acceptableStatusCodes = acceptableStatusCodes
        self.acceptableContentTypes = acceptableContentTypes
    }

    /// What is wrong with a response, its status first, and a wrong content type behind that.
    ///
    /// The type of an empty body does not count: a 204 or 205 often names none, or one that means nothing.
    public func error(_ response: HTTPResponse, body: [UInt8]) -> ResponseError? {
        var error: ResponseError?
        if let types = acceptableContentTypes, !body.isEmpty, !types.contains(response.mediaType ?? "") {
            error = ResponseError(.unacceptableContentType(response.mediaType), response: response, body: body)
        }
        if let codes = acceptableStatusCodes, !codes.contains(response.statusCode) {
            let fault = ResponseError.Fault.unacceptableStatus(response.statusCode)
            error = ResponseError(fault, response: response, body: body, underlying: error)
        }
        return error
    }

    /// Checks a response, and unless its content type is wrong gives the body to `decode`, which says what is wrong
    /// with it.
    ///
    /// An empty body, and the single space that Rails sends for "no content", are no object and no error.
    func serialize(
        _ response: HTTPResponse?, body: [UInt8], format: String,
        decode: (_ body: [UInt8], _ characterSet: String?) throws(ResponseDecodingError) -> ResponseObject
    ) -> SerializedResponse {
        let error = response.flatMap { self.error($0, body: body) }
        guard error?.hasWrongContentType != true, !body.isEmpty, body != [0x20] else {
            return SerializedResponse(object: nil, error: error)
        }
        do throws(ResponseDecodingError) {
            return SerializedResponse(object: try decode(body, response?.characterSet), error: error)
        } catch let fault {
            let undecodable = ResponseError(
                .undecodable(format: format, reason: fault.description), response: response, body: body,
                underlying: error)
            return SerializedResponse(object: nil, error: undecodable)
        }
    }
}

/// Why a body is not of its format.
struct ResponseDecodingError: Error {
    let description: String
}
