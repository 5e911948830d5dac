internal import ReachCore
internal import ReachTransfer

extension EndpointAnswer {
    /// The answer in the report of a transfer.
    ///
    /// - Parameter isByProxy: Whether a proxy sent it. An error then is the proxy's own: it cannot reach the endpoint,
    ///   or does not want to.
    init(_ report: TransferReport, byProxy isByProxy: Bool = false) {
        switch report.outcome {
        case .success(let head?) where isByProxy && head.status >= 400 && head.status != 511: self = .failure(.noAnswer)
        case .success(let head?):
            self = .response(EndpointResponse(status: head.status, headers: head.fields, body: report.body))
        case .success(nil): self = .failure(.noAnswer)
        case .failure(let failure): self = .failure(EndpointFailure(failure))
        }
    }
}

extension EndpointFailure {
    init(_ failure: TransferFailure) {
        switch failure.reason {
        case .nameNotFound, .nameServerSilent, .nameServerFailure: self = .nameNotResolved
        case .hostUnreachable, .connectTimeout, .connectFailed: self = .notConnected
        case .connectionRefused: self = .refused
        case .totalTimeout, .idleTimeout, .connectionReset, .connectionSilent, .emptyResponse, .truncated, .sendFailed,
            .http2, .proxyFailed, .proxyRefused:
            self = .noAnswer
        case .badResponse, .badEncoding, .headerTooLarge: self = .garbage
        case .certificateExpired, .certificateNotYetValid: self = .certificateDate
        case .tlsHandshake, .certificateUntrusted, .certificateWrongHost, .certificateInvalid, .pinMismatch:
            self = .certificate
        default:
            // The cause is this machine or its configuration, which says nothing about the path.
            self = .local
        }
    }

    init(_ failure: NameFailure) {
        switch failure {
        case .notFound, .silent, .serverFailure: self = .nameNotResolved
        case .notAsked: self = .local
        }
    }
}
