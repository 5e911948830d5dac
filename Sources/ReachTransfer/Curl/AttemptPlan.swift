internal import ReachCore

/// What one attempt is to do: a request of one hop, to one address.
struct AttemptPlan {
    /// With the method, URL, headers and body of this hop.
    var request: TransferRequest
    /// Of the URL's host, or of the proxy; in no case is libcurl left to find one.
    var address: IPAddress
    var followsRedirects = false
    /// What the download goes on with, if it can be (``TransferSink/file(_:)``).
    var resume: ResumePoint?
    /// Who is trusted, where the URL is an https one.
    var trust: TrustStore?

    /// libcurl sends a request again by itself when a connection that it used before turns out to be dead. That may be
    /// a second delivery, so what must not be delivered twice goes over a new connection.
    var mayReuse: Bool {
        request.connection == .pooled && !request.bindsConnection
            && (request.method == "GET" || Self.repeatable.contains(request.method)
                || request.headers.contains { $0.name.lowercased() == "idempotency-key" })
    }

    private static let repeatable: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]
}
