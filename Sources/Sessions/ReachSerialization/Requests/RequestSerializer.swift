internal import ReachCore

/// Encodes parameters into requests.
///
/// Conform to it for a custom format; `FormRequestSerializer.encodesInURL` says whether a method has its parameters in
/// the URL.
public protocol RequestSerializer: Sendable {
    /// Adds default headers and parameters to a request.
    ///
    /// - Parameter parameters: `nil` for no parameters. This differs from empty parameters: without any, JSON has no
    ///   body.
    func serialize(
        _ request: WebRequest, parameters: ParameterValue?
    ) throws(RequestSerializationError) -> WebRequest

    /// The serializer that encodes multipart forms, with this one's headers. By default one without headers.
    var form: FormRequestSerializer { get }
}

extension RequestSerializer {
    /// A serializer without headers.
    public var form: FormRequestSerializer { FormRequestSerializer() }

    /// Builds a request with default headers and parameters.
    ///
    /// - Parameters:
    ///   - method: `GET`, `POST`, ...
    ///   - reference: A URL, or a reference that is resolved against `base`.
    ///   - base: A base as returned by ``WebAddress/asBase``, or `nil` if the reference is a complete URL.
    ///   - parameters: The parameters to send.
    public func request(
        _ method: String, _ reference: String, base: WebAddress? = nil, parameters: ParameterValue? = nil
    ) throws(RequestSerializationError) -> WebRequest {
        let url: WebAddress
        do throws(WebAddressError) {
            url = if let base { try base.asBase.resolving(reference) } else { try WebAddress(reference) }
        } catch {
            throw .badAddress(error)
        }
        return try serialize(WebRequest(method: method, url: url), parameters: parameters)
    }
}
