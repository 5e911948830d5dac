internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

extension ProbeObservation.Ending {
    /// Sorts a system error into failures of the other side and errors of this machine, which prove nothing.
    init(systemError number: CInt, _ call: String) {
        let text = "\(call): \(SystemError.text(number))"
        switch number {
        case ENETUNREACH, ENETDOWN: self = .doubtful(.noPath, text)
        case ENODEV, EADDRNOTAVAIL, ENXIO: self = .doubtful(.interface, text)
        case EPERM, EACCES: self = .doubtful(.notPermitted, text)
        case ECONNREFUSED: self = .failed(.refused, text)
        // The error may come from this machine's neighbour table or from a distant router. If the path here broke,
        // ``PathContinuity`` makes the result inconclusive.
        case EHOSTUNREACH, EHOSTDOWN: self = .failed(.unreachable, text)
        case ECONNRESET, EPIPE, ECONNABORTED: self = .failed(.reset, text)
        case ETIMEDOUT: self = .failed(.timeout, text)
        default: self = .doubtful(.localError, text)
        }
    }

    init(_ failure: NameFailure) {
        switch failure {
        case .notAsked(let text, let number):
            if case .doubtful(let doubt, _) = Self(systemError: number, "") {
                self = .doubtful(doubt, text)
            } else {
                self = .failed(.nameNotResolved, text)
            }
        case .notFound, .silent, .serverFailure: self = .failed(.nameNotResolved, failure.description)
        }
    }

    init(_ failure: TransferFailure) {
        let text = failure.message
        switch failure.reason {
        case .networkUnreachable, .networkDown: self = .doubtful(.noPath, text)
        case .noDevice, .addressNotAvailable, .wrongPath: self = .doubtful(.interface, text)
        case .networkChanged: self = .doubtful(.pathChanged, text)
        case .bindRefused: self = Self.bindRefused(failure)
        case .nameNotFound, .nameServerSilent, .nameServerFailure: self = .failed(.nameNotResolved, text)
        case .connectionRefused: self = .failed(.refused, text)
        case .hostUnreachable: self = .failed(.unreachable, text)
        case .connectTimeout, .totalTimeout, .idleTimeout, .connectionSilent: self = .failed(.timeout, text)
        case .connectionReset, .connectFailed, .emptyResponse, .truncated, .sendFailed: self = .failed(.reset, text)
        case .tlsHandshake, .clientCertificate: self = .failed(.tls, text)
        case .certificateExpired, .certificateNotYetValid, .certificateUntrusted, .certificateWrongHost,
            .certificateInvalid:
            self = .failed(.certificate, text)
        case .pinMismatch: self = .failed(.pin, text)
        case .badResponse, .badEncoding, .http2, .badRequest, .unsupportedProtocol, .tooManyRedirects, .headerTooLarge,
            .badRange, .redirectRefused, .responseTooLarge, .proxyFailed, .proxyRefused, .proxyAuthentication:
            self = .failed(.protocolError, text)
        case .notSupported, .fileFailed, .outOfMemory, .engineFailed: self = .doubtful(.localError, text)
        }
    }

    private static func bindRefused(_ failure: TransferFailure) -> Self {
        let isForbidden = failure.systemError == EPERM || failure.systemError == EACCES
        return .doubtful(isForbidden ? .notPermitted : .interface, failure.message)
    }
}
