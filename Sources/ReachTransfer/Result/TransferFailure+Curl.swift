internal import CCurl
internal import Glibc

extension TransferFailure {
    /// What libcurl's result means, with what else is known.
    ///
    /// - Parameter host: Whom it was about, for people.
    init(_ code: CURLcode, _ evidence: TransferEvidence, host: String) {
        if let refusal = evidence.refusal {
            self = refusal
            return
        }
        let isAboutCertificate = code == CURLE_PEER_FAILED_VERIFICATION
        let reason: Reason
        if isAboutCertificate, evidence.isPinMismatch {
            reason = .pinMismatch
        } else if isAboutCertificate {
            reason = Self.certificateReason(evidence.verification)
        } else if code == CURLE_OUT_OF_MEMORY, evidence.isReadingHead {
            // So says 7.88.1 of a header line of more than 100 KiB; from 8.6 on it is CURLE_TOO_LARGE.
            reason = .headerTooLarge
        } else if code == CURLE_UNSUPPORTED_PROTOCOL, evidence.isRequestStarted {
            // The request was good: what answers speaks something else than HTTP, or a version of it that does not exist.
            // Before it was sent, this libcurl lacks the scheme, which was checked: ``engineFailed``, and no request's fault.
            reason = .badResponse
        } else if Self.mayBeLocal.contains(code), let local = Self.localReasons[evidence.systemError] {
            reason = local
        } else {
            reason = Self.reason(code, evidence.systemError)
        }
        let sentence = evidence.text.isEmpty ? String(cString: curl_easy_strerror(code)) : evidence.text
        self.init(
            reason, "\(host): \(sentence)",
            // libcurl's own pins end with 90; ours are checked within the verification of the certificate.
            curlCode: Int32(bitPattern: (reason == .pinMismatch ? CURLE_SSL_PINNEDPUBKEYNOTMATCH : code).rawValue),
            systemError: Self.mayBeLocal.contains(code) ? evidence.systemError : 0)
    }

    /// The codes with which an `errno` belongs to the attempt: with others it is a leftover of something that was overcome.
    private static let mayBeLocal: Set<CURLcode> = [
        CURLE_COULDNT_CONNECT, CURLE_SSL_CONNECT_ERROR, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING,
        CURLE_INTERFACE_FAILED,
    ]

    /// No packet left the machine (scheduling.md 4.3). EHOSTUNREACH may also come from a router far away.
    static let localReasons: [CInt: Reason] = [
        ENETUNREACH: .networkUnreachable, ENETDOWN: .networkDown, ENODEV: .noDevice,
        EADDRNOTAVAIL: .addressNotAvailable,
    ]

    /// What kept a socket from being made, tied or connected on this machine; `nil` for what others may have caused.
    static func socketReason(_ number: CInt) -> Reason? {
        switch number {
        case EMFILE, ENFILE, ENOMEM, ENOBUFS: .outOfMemory
        case EPERM, EACCES: .bindRefused
        // IPv6 is switched off.
        case EAFNOSUPPORT: .addressNotAvailable
        default: localReasons[number]
        }
    }

    private static func certificateReason(_ verification: Int32) -> Reason {
        switch verification {
        // libcurl judges the name itself, after the chain was found good.
        case X509_V_OK: .certificateWrongHost
        case X509_V_ERR_CERT_HAS_EXPIRED: .certificateExpired
        case X509_V_ERR_CERT_NOT_YET_VALID: .certificateNotYetValid
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .certificateWrongHost
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
            X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED, X509_V_ERR_CERT_REJECTED:
            .certificateUntrusted
        default: .certificateInvalid
        }
    }

    private static func reason(_ code: CURLcode, _ systemError: CInt) -> Reason {
        switch code {
        case CURLE_COULDNT_CONNECT: connectReasons[systemError] ?? .connectFailed
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SSL_CONNECT_ERROR, CURLE_GOT_NOTHING:
            systemError == ECONNRESET || systemError == EPIPE ? .connectionReset : reasons[code] ?? .badResponse
        default: reasons[code] ?? .engineFailed
        }
    }

    private static let connectReasons: [CInt: Reason] = [
        ECONNREFUSED: .connectionRefused, EHOSTUNREACH: .hostUnreachable, ETIMEDOUT: .connectTimeout,
        ECONNRESET: .connectionReset,
    ]

    private static let reasons: [CURLcode: Reason] = [
        CURLE_URL_MALFORMAT: .badRequest,
        CURLE_NOT_BUILT_IN: .notSupported, CURLE_COULDNT_RESOLVE_PROXY: .proxyFailed,
        CURLE_COULDNT_RESOLVE_HOST: .nameNotFound, CURLE_WEIRD_SERVER_REPLY: .badResponse,
        CURLE_HTTP2: .http2, CURLE_PARTIAL_FILE: .truncated, CURLE_WRITE_ERROR: .engineFailed,
        CURLE_READ_ERROR: .fileFailed, CURLE_OUT_OF_MEMORY: .outOfMemory, CURLE_OPERATION_TIMEDOUT: .connectTimeout,
        CURLE_RANGE_ERROR: .badRange, CURLE_SSL_CONNECT_ERROR: .tlsHandshake,
        CURLE_BAD_FUNCTION_ARGUMENT: .badRequest, CURLE_INTERFACE_FAILED: .bindRefused,
        CURLE_TOO_MANY_REDIRECTS: .tooManyRedirects, CURLE_GOT_NOTHING: .emptyResponse,
        CURLE_SEND_ERROR: .sendFailed, CURLE_RECV_ERROR: .badResponse, CURLE_SSL_CERTPROBLEM: .clientCertificate,
        CURLE_SSL_CIPHER: .tlsHandshake, CURLE_BAD_CONTENT_ENCODING: .badResponse,
        CURLE_FILESIZE_EXCEEDED: .responseTooLarge, CURLE_SEND_FAIL_REWIND: .sendFailed,
        CURLE_SSL_CACERT_BADFILE: .notSupported, CURLE_SSL_PINNEDPUBKEYNOTMATCH: .pinMismatch,
        CURLE_SSL_INVALIDCERTSTATUS: .certificateInvalid, CURLE_HTTP2_STREAM: .http2,
        CURLE_PROXY: .proxyFailed, CURLE_SSL_CLIENTCERT: .clientCertificate,
        // CURLE_TOO_LARGE.
        CURLcode(rawValue: 100): .headerTooLarge,
    ]
}

extension CURLcode: @retroactive Hashable {}
