internal import Glibc
internal import ReachQueue
internal import ReachTransfer

extension AttemptEnd {
    /// What the end of a transfer means to the queue (scheduling.md 4.4).
    ///
    /// - Parameter isClockUnset: Asked only where a certificate's dates are what failed.
    init(
        _ report: TransferReport, of request: QueuedRequest, answer: RequestBody,
        isClockUnset: () -> Bool = MachineClock.isUnset
    ) {
        switch report.outcome {
        case .success(let head):
            let status = head?.status ?? 0
            if status == Self.networkAuthenticationRequired {
                // From a portal on the way, never from the destination.
                self = .failed(TransferFault(code: 56, systemError: ENETUNREACH))
                return
            }
            let headers = (head?.fields ?? []).map { QueuedRequest.Header(name: $0.name, value: $0.value) }
            self = .answered(
                RequestResult(status: status, headers: headers, body: answer),
                isAccepted: request.accepts(status: status))
        case .failure(let failure): self = .failed(TransferFault(failure, isClockUnset: isClockUnset))
        }
    }

    /// RFC 6585, 6.
    private static let networkAuthenticationRequired = 511
}

extension TransferFault {
    init(_ failure: TransferFailure, isClockUnset: () -> Bool = MachineClock.isUnset) {
        self.init(code: Int(Self.code(of: failure)), systemError: failure.systemError)
        switch failure.reason {
        case .certificateExpired, .certificateNotYetValid: self.isClockUnset = isClockUnset()
        case .networkDown, .networkUnreachable, .noDevice, .addressNotAvailable:
            // From within a name lookup the number may be missing, and the reason says as much.
            if systemError == 0 { systemError = ENETUNREACH }
        default: break
        }
    }

    /// The number by which ``FailureClassifier`` sorts it. Mostly libcurl's own; where a rule of the caller's or this
    /// machine ended it, libcurl has none, or one that would mean something else.
    private static func code(of failure: TransferFailure) -> Int32 {
        switch failure.reason {
        case .bindRefused, .wrongPath: 45
        case .redirectRefused, .tooManyRedirects: 47
        case .headerTooLarge, .responseTooLarge: 63
        case .badRequest: 3
        case .unsupportedProtocol: 1
        case .notSupported: 4
        case .pinMismatch: 90
        case .clientCertificate: 58
        case .certificateExpired, .certificateNotYetValid, .certificateUntrusted, .certificateWrongHost,
            .certificateInvalid:
            60
        // A full or failing disk is nobody's fault, and mended by somebody; anything else about a file is not.
        case .fileFailed: [ENOSPC, EDQUOT, EIO, EMFILE, ENFILE].contains(failure.systemError) ? 27 : 26
        case .outOfMemory: 27
        case .engineFailed: 2
        // The download begins anew.
        case .badRange: 42
        default: failure.curlCode == 0 ? 7 : failure.curlCode
        }
    }
}
