internal import Glibc
internal import ReachCore
internal import ReachQueue
internal import ReachTransfer

extension AttemptEnd {
    /// What the end of a transfer means to the queue.
    ///
    /// - Parameters:
    ///   - statuses: What the request takes for success.
    ///   - isClockUnset: Asked only where a certificate's dates are what failed.
    init(
        _ report: TransferReport, accepting statuses: [ClosedRange<Int>], answer: RequestBody,
        isClockUnset: () -> Bool = MachineClock.isUnset
    ) {
        switch report.outcome {
        case .success(let head):
            let status = head?.status ?? 0
            if status == Self.networkAuthenticationRequired {
                // From a portal on the way, never from the destination.
                self = .failed(AttemptFault(.localNetwork))
                return
            }
            self = .answered(
                RequestResult(status: status, headers: head?.fields ?? [], body: answer),
                isAccepted: statuses.contains { $0.contains(status) })
        case .failure(let failure): self = .failed(AttemptFault(failure, isClockUnset: isClockUnset))
        }
    }

    /// RFC 6585, 6.
    private static let networkAuthenticationRequired = 511
}

extension AttemptFault {
    init(_ failure: TransferFailure, isClockUnset: () -> Bool = MachineClock.isUnset) {
        self.init(Kind(failure), isAnswered: failure.reason.isAnswer)
        trouble = kind == .disk ? .diskFull : AttemptTrouble(failure.reason)
        if kind == .certificateTime { self.isClockUnset = isClockUnset() }
    }
}

extension AttemptFault {
    /// A whole download could not be given its name.
    ///
    /// - Parameter number: `errno`.
    init(delivery number: CInt) {
        let isFull = [ENOSPC, EDQUOT].contains(number)
        self.init(isFull ? .disk : number == EIO ? .local : .file)
        if isFull { trouble = .diskFull }
    }

    /// The network's proxy wants credentials that the configuration lacks. Somebody mends that, and no request is at
    /// fault.
    static var ofUsualProxy: AttemptFault {
        var fault = AttemptFault(.proxy)
        fault.trouble = .proxyAuthentication
        return fault
    }
}

extension AttemptTrouble {
    init?(_ reason: TransferFailure.Reason) {
        switch reason {
        case .nameNotFound: self = .noSuchName
        case .nameServerSilent: self = .nameServersSilent
        case .nameServerFailure: self = .nameServersFailed
        case .connectionRefused: self = .refused
        case .hostUnreachable: self = .unreachable
        case .connectTimeout: self = .noConnection
        case .totalTimeout, .idleTimeout: self = .noAnswerInTime
        case .connectionReset, .connectionSilent, .connectFailed, .emptyResponse, .truncated, .sendFailed:
            self = .cutOff
        case .tlsHandshake: self = .noTLS
        case .badResponse, .badRange, .http2: self = .badAnswer
        case .proxyFailed: self = .proxyFailed
        case .proxyRefused: self = .proxyRefused
        case .proxyAuthentication: self = .proxyAuthentication
        default: return nil
        }
    }
}

extension TransferFailure {
    /// Whether a file did not fit on its disk.
    var isOfFullDisk: Bool { reason == .fileFailed && [ENOSPC, EDQUOT].contains(systemError) }
}

extension TransferFailure.Reason {
    /// Whether the other side reacted. What comes from routers and name servers on the way does not count.
    fileprivate var isAnswer: Bool {
        switch self {
        case .connectionRefused, .connectionReset, .emptyResponse, .truncated, .badResponse, .badEncoding, .badRange,
            .tlsHandshake, .http2, .proxyRefused, .tooManyRedirects, .headerTooLarge, .responseTooLarge:
            true
        default: false
        }
    }
}

extension AttemptFault.Kind {
    fileprivate init(_ failure: TransferFailure) {
        switch failure.reason {
        case .networkUnreachable, .networkDown, .noDevice, .addressNotAvailable: self = .localNetwork
        case .networkChanged, .nameNotFound, .nameServerSilent, .nameServerFailure, .connectionRefused,
            .hostUnreachable, .connectTimeout, .totalTimeout, .idleTimeout, .connectionReset, .connectionSilent,
            .connectFailed, .emptyResponse, .truncated, .badResponse, .badRange, .sendFailed, .tlsHandshake,
            .proxyFailed, .proxyRefused, .http2:
            self = .transient
        case .bindRefused, .wrongPath: self = .interface
        case .certificateExpired, .certificateNotYetValid: self = .certificateTime
        case .certificateUntrusted, .certificateWrongHost, .certificateInvalid: self = .certificate
        case .pinMismatch: self = .pin
        case .badRequest, .unsupportedProtocol, .notSupported: self = .invalid
        case .tooManyRedirects, .redirectRefused: self = .redirects
        case .proxyAuthentication: self = .refused
        // The request has arrived, and its answer would be the same again.
        case .headerTooLarge, .responseTooLarge, .badEncoding: self = .unreadable
        case .clientCertificate: self = .file
        // A full or failing disk is no one's fault, and mended by somebody; anything else about a file is not.
        case .fileFailed:
            self =
                failure.isOfFullDisk
                ? .disk : [EIO, EMFILE, ENFILE].contains(failure.systemError) ? .local : .file
        case .outOfMemory, .engineFailed: self = .local
        }
    }
}

extension TransferReport {
    /// As if a body that came in parts had come in one: whoever asked for it did not ask for a part.
    ///
    /// - Parameter count: Of all its bytes.
    func inOnePiece(_ count: UInt64) -> TransferReport {
        guard case .success(var head?) = outcome, head.status == 206 else { return self }
        head.status = 200
        head.fields.removeAll { ["content-range", "content-length"].contains($0.name.lowercased()) }
        head.fields.append(HeaderField("Content-Length", "\(count)"))
        var report = self
        report.outcome = .success(head)
        return report
    }
}

extension TransferReport {
    /// As if the server had not asked for a wait.
    var withoutRetryAfter: TransferReport {
        guard case .success(var head?) = outcome, head["retry-after"] != nil else { return self }
        head.fields.removeAll { $0.isNamed("Retry-After") }
        var report = self
        report.outcome = .success(head)
        return report
    }

    /// Adds the URL after redirects to the fields that are stored with the result.
    func noting(finalURL url: TransferURL, of original: String) -> TransferReport {
        guard case .success(var head?) = outcome else { return self }
        // Most requests are not redirected, and their URL need not be read again.
        let isRedirected = url.description != original && url != (try? TransferURL(original))
        guard isRedirected || head.fields.contains(where: { $0.name == RequestResult.finalURLField }) else {
            return self
        }
        head.fields.removeAll { $0.name == RequestResult.finalURLField }
        if isRedirected {
            head.fields.append(HeaderField(RequestResult.finalURLField, url.description))
        }
        var report = self
        report.outcome = .success(head)
        return report
    }
}

extension RequestResult {
    /// The name under which a result has the URL that answered, where a redirect led to it. It is no token, as the
    /// names of fields are; of what a session receives, a server's field of this name is removed.
    package static let finalURLField = "(url)"
}
