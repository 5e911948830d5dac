/// Why a transfer failed, sorted by what the caller does about it.
package struct TransferFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the caller does next.
    package enum Class: String, Hashable, Sendable, CaseIterable {
        /// This machine could not send: wait for the network to change. Says nothing about the destination.
        case localNetwork = "local-network"
        /// The destination, or something on the path to it, did not answer as it should: try again later. Which of the
        /// two it was needs other evidence.
        case destination
        /// The server is not trusted: do not retry automatically.
        case security
        /// The request cannot succeed as it is: do not retry.
        case request
        /// A rule of the caller ended it: an interface, a redirect or a size that it does not allow.
        case refused
        /// A file or the memory of this machine: try again when that is fixed.
        case local
    }

    /// A stable word for programs.
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        case networkUnreachable = "network-unreachable"
        case networkDown = "network-down"
        case noDevice = "no-device"
        case addressNotAvailable = "address-not-available"
        case networkChanged = "network-changed"

        case nameNotFound = "name-not-found"
        case nameServerSilent = "name-server-silent"
        case nameServerFailure = "name-server-failure"
        case connectionRefused = "connection-refused"
        case hostUnreachable = "host-unreachable"
        case connectTimeout = "connect-timeout"
        case totalTimeout = "timeout"
        case idleTimeout = "idle-timeout"
        case connectionReset = "connection-reset"
        /// Nothing that was sent on a connection that had been used before was acknowledged.
        case connectionSilent = "connection-silent"
        case connectFailed = "connect-failed"
        case emptyResponse = "empty-response"
        case truncated = "truncated"
        case badResponse = "bad-response"
        /// The body is not in the encoding that its head names.
        case badEncoding = "bad-encoding"
        case sendFailed = "send-failed"
        case tlsHandshake = "tls-handshake"
        /// The proxy cannot be reached, or does not answer as a proxy.
        case proxyFailed = "proxy-failed"
        /// The proxy makes no connection to the target.
        case proxyRefused = "proxy-refused"
        case http2 = "http2"

        case certificateExpired = "certificate-expired"
        case certificateNotYetValid = "certificate-not-yet-valid"
        case certificateUntrusted = "certificate-untrusted"
        case certificateWrongHost = "certificate-wrong-host"
        case certificateInvalid = "certificate-invalid"
        case pinMismatch = "pin-mismatch"
        case clientCertificate = "client-certificate"

        case badRequest = "bad-request"
        case unsupportedProtocol = "unsupported-protocol"
        case tooManyRedirects = "too-many-redirects"
        case headerTooLarge = "header-too-large"
        case badRange = "bad-range"
        case notSupported = "not-supported"

        case bindRefused = "bind-refused"
        case wrongPath = "wrong-path"
        case redirectRefused = "redirect-refused"
        /// The proxy wants other credentials.
        case proxyAuthentication = "proxy-authentication"
        case responseTooLarge = "response-too-large"

        case fileFailed = "file-failed"
        case outOfMemory = "out-of-memory"
        case engineFailed = "engine-failed"
    }

    package let reason: Reason
    /// A sentence for people, with the name or address concerned.
    package let message: String
    /// libcurl's error number, or the one it would have used; 0 if it has none.
    package let curlCode: Int32
    /// `errno`, where a system call failed; else 0.
    package let systemError: Int32

    package init(_ reason: Reason, _ message: String, curlCode: Int32 = 0, systemError: Int32 = 0) {
        self.reason = reason
        self.message = message
        self.curlCode = curlCode
        self.systemError = systemError
    }

    package var kind: Class { reason.kind }

    package var description: String { message }
}

extension TransferFailure.Reason {
    /// What the caller does about it.
    package var kind: TransferFailure.Class {
        switch self {
        case .networkUnreachable, .networkDown, .noDevice, .addressNotAvailable, .networkChanged: .localNetwork
        case .nameNotFound, .nameServerSilent, .nameServerFailure, .connectionRefused, .hostUnreachable,
            .connectTimeout, .totalTimeout, .idleTimeout, .connectionReset, .connectionSilent, .connectFailed,
            .emptyResponse, .truncated, .badResponse, .badEncoding, .sendFailed, .tlsHandshake, .proxyFailed,
            .proxyRefused, .http2:
            .destination
        case .certificateExpired, .certificateNotYetValid, .certificateUntrusted, .certificateWrongHost,
            .certificateInvalid, .pinMismatch, .clientCertificate:
            .security
        case .badRequest, .unsupportedProtocol, .tooManyRedirects, .headerTooLarge, .badRange, .notSupported: .request
        case .bindRefused, .wrongPath, .redirectRefused, .responseTooLarge, .proxyAuthentication: .refused
        case .fileFailed, .outOfMemory, .engineFailed: .local
        }
    }
}
