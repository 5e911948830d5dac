package import ReachQueue
package import ReachTransfer

extension TransferFault.Cause {
    /// What a transfer's failure is to the queue.
    package init(_ reason: TransferFailure.Reason) {
        switch reason {
        case .networkUnreachable, .networkDown, .noDevice, .addressNotAvailable, .networkChanged: self = .localNetwork
        case .certificateExpired, .certificateNotYetValid: self = .certificateTime
        case .certificateUntrusted, .certificateWrongHost, .certificateInvalid: self = .certificate
        case .pinMismatch: self = .pin
        case .badRequest, .unsupportedProtocol, .notSupported: self = .invalid
        case .tooManyRedirects, .redirectRefused: self = .redirects
        case .headerTooLarge, .responseTooLarge: self = .unreadable
        case .bindRefused, .wrongPath: self = .interface
        case .clientCertificate, .fileFailed: self = .file
        case .outOfMemory, .engineFailed: self = .local
        // A download that cannot be resumed begins anew.
        case .badRange: self = .transient
        case .nameNotFound, .nameServerSilent, .nameServerFailure, .connectionRefused, .hostUnreachable,
            .connectTimeout, .totalTimeout, .idleTimeout, .connectionReset, .connectFailed, .emptyResponse, .truncated,
            .badResponse, .sendFailed, .tlsHandshake, .proxyFailed, .http2:
            self = .transient
        }
    }
}
