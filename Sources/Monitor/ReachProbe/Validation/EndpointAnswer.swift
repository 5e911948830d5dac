package import ReachCore

/// The outcome of one request to one endpoint.
package enum EndpointAnswer: Hashable, Sendable {
    /// An HTTP response, from the endpoint or from another host in its place. Over TLS the certificate was valid.
    case response(EndpointResponse)
    /// The name resolved to private addresses only, which a name in the public DNS cannot have. Nothing was sent there.
    case privateAddress(IPAddress)
    /// No response.
    case failure(EndpointFailure)
}

/// The relevant parts of an HTTP response.
package struct EndpointResponse: Hashable, Sendable {
    package var status: Int
    package var headers: [HeaderField]
    /// The first ``bodyLimitBytes`` of the body. The rest is not read.
    package var body: [UInt8]

    /// Most bytes of a body that are read. NetworkManager and Android read up to 100 KiB to recognize a portal, but the
    /// beginning shows whether the body is the expected one, or empty.
    package static let bodyLimitBytes = 4096
    /// Largest body in bytes that counts as empty, since some servers end an empty page with a line break (Android's
    /// limit).
    package static let emptyBodyBytes = 4

    package init(status: Int, headers: [HeaderField] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The value of the first header with this name, compared without regard to case.
    package func header(_ name: String) -> String? {
        headers.first { $0.isNamed(name) }?.value
    }
}

/// Why an endpoint gave no answer, ordered by how far the attempt got.
package enum EndpointFailure: String, Hashable, Sendable, CaseIterable {
    /// The attempt failed for a reason on this machine. It proves nothing.
    case local
    /// The name could not be resolved: the servers were silent or failed, or there is no such name.
    case nameNotResolved = "name-not-resolved"
    /// The connection timed out, or an ICMP error came back.
    case notConnected = "not-connected"
    /// The host, or a router in its place, refused the connection.
    case refused
    /// The connection was cut or stalled before the answer was complete.
    case noAnswer = "no-answer"
    /// The answer was not HTTP.
    case garbage
    /// The certificate is not valid at the time of this machine's clock. Either of the two may be wrong.
    case certificateDate = "certificate-date"
    /// TLS failed otherwise: the certificate is another host's, or the server does not speak TLS.
    case certificate
}
