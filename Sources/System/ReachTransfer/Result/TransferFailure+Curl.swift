internal import CCurl
internal import Glibc

/// The facts about an attempt's proxy.
struct ProxyEvidence: Equatable {
    /// Its host and port, for the message.
    var name: String
    /// Whether the request is sent through a tunnel, by CONNECT or SOCKS.
    var isTunnel: Bool
    /// The status with which an HTTP proxy answered CONNECT; 0 for none.
    var status = 0
    /// What SOCKS found wrong (CURLPX_*), 0 for nothing.
    var fault: UInt32 = 0

    /// Why the attempt failed at the proxy, and how to say so; `nil` if it failed elsewhere.
    func failure(_ code: CURLcode, isRequestStarted: Bool) -> (reason: TransferFailure.Reason, text: String)? {
        guard !isRequestStarted else { return nil }
        if status == 407 { return (.proxyAuthentication, "the proxy \(name) wants other credentials") }
        if status >= 300 { return (.proxyRefused, "the proxy \(name) refuses the connection with status \(status)") }
        if code == CURLE_PROXY {
            if Self.credentialFaults.contains(CURLproxycode(rawValue: fault)) {
                return (.proxyAuthentication, "the proxy \(name) wants other credentials")
            }
            let isReply = CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED.rawValue...CURLPX_REPLY_UNASSIGNED.rawValue ~= fault
            return isReply
                ? (.proxyRefused, "the proxy \(name) makes no connection to the target")
                : (.proxyFailed, "the proxy \(name) does not answer as a SOCKS proxy")
        }
        if code == CURLE_COULDNT_CONNECT { return (.proxyFailed, "no connection to the proxy \(name)") }
        if isTunnel, Self.endless.contains(code) {
            return (.proxyFailed, "the answer of the proxy \(name) to CONNECT does not end")
        }
        // Before the tunnel stands, nothing else speaks.
        guard isTunnel, status == 0, Self.breakdowns.contains(code) else { return nil }
        return (.proxyFailed, "the proxy \(name) ends the connection, or does not answer as a proxy")
    }

    private static let credentialFaults: Set<CURLproxycode> = [CURLPX_NO_AUTH, CURLPX_USER_REJECTED, CURLPX_RECV_AUTH]

    private static let breakdowns: Set<CURLcode> = [
        CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL,
    ]

    /// A line of more than 16 KiB, for libcurl 7.88.1 and since 8.6, and since 8.6 more than 5,000 lines.
    private static let endless: Set<CURLcode> = [CURLE_OUT_OF_MEMORY, CURLcode(rawValue: 100)]
}

/// The facts about an attempt that libcurl ended, from which its ``TransferFailure`` follows.
struct TransferEvidence: Equatable {
    /// The reason for which a callback ended it: libcurl's own result only follows from that.
    var refusal: TransferFailure?
    /// `errno` of the last system call that failed.
    var systemError: Int32 = 0
    /// OpenSSL's verdict on the chain (X509_V_*), 0 if it was good or not judged.
    var verification: Int32 = 0
    var isPinMismatch = false
    /// Whether the request was sent, and the head of the response is not complete.
    var isReadingHead = false
    /// Whether the request was sent: a later failure is then not the request's fault.
    var isRequestStarted = false
    /// libcurl's message; may be empty.
    var text = ""
    /// What happened at the proxy; `nil` without one.
    var proxy: ProxyEvidence?
}

extension TransferFailure {
    /// The failure of a libcurl result code and its evidence.
    ///
    /// - Parameter host: The host, for the message.
    init(_ code: CURLcode, _ evidence: TransferEvidence, host: String) {
        if let refusal = evidence.refusal {
            self = refusal
            return
        }
        let isAboutCertificate = code == CURLE_PEER_FAILED_VERIFICATION
        if !Self.mayBeLocal.contains(code) || Self.localReasons[evidence.systemError] == nil,
            let (reason, text) = evidence.proxy?.failure(code, isRequestStarted: evidence.isRequestStarted)
        {
            self.init(reason, "\(host): \(text)", curlCode: Int32(bitPattern: code.rawValue))
            return
        }
        let reason: Reason
        if isAboutCertificate, evidence.isPinMismatch {
            reason = .pinMismatch
        } else if isAboutCertificate {
            reason = Self.certificateReason(evidence.verification)
        } else if code == CURLE_OUT_OF_MEMORY, evidence.isReadingHead {
            // libcurl 7.88.1 returns this for a header line of more than 100 KiB; since 8.6 it is CURLE_TOO_LARGE.
            reason = .headerTooLarge
        } else if code == CURLE_UNSUPPORTED_PROTOCOL, evidence.isRequestStarted {
            // The request was good: the server speaks another protocol than HTTP, or a version that does not exist.
            // Before the request was sent, this libcurl lacks the scheme, which was checked: ``engineFailed``, no fault
            // of the request.
            reason = .badResponse
        } else if Self.mayBeLocal.contains(code), let local = Self.localReasons[evidence.systemError] {
            reason = local
        } else if code == CURLE_COULDNT_CONNECT, Self.refusedHere.contains(evidence.systemError) {
            reason = .networkUnreachable
        } else {
            reason = Self.reason(code, evidence.systemError)
        }
        // One number for each reason that libcurl has changed the number of.
        let own: CURLcode? =
            switch reason {
            // libcurl's own pins fail with it; ours are checked while the certificate is verified.
            case .pinMismatch: CURLE_SSL_PINNEDPUBKEYNOTMATCH
            case .headerTooLarge: Self.tooLarge
            default: nil
            }
        let sentence = evidence.text.isEmpty ? String(cString: curl_easy_strerror(code)) : evidence.text
        self.init(
            reason, "\(host): \(sentence)",
            curlCode: Int32(bitPattern: (own ?? code).rawValue),
            systemError: Self.mayBeLocal.contains(code) ? evidence.systemError : 0)
    }

    /// The codes with which `errno` belongs to the attempt: with others it is left from an earlier error that did not
    /// matter.
    private static let mayBeLocal: Set<CURLcode> = [
        CURLE_COULDNT_CONNECT, CURLE_SSL_CONNECT_ERROR, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING,
        CURLE_INTERFACE_FAILED,
    ]

    /// Errors with which no packet left the machine. EHOSTUNREACH is not one: it may also come from a distant router.
    static let localReasons: [CInt: Reason] = [
        ENETUNREACH: .networkUnreachable, ENETDOWN: .networkDown, ENODEV: .noDevice,
        EADDRNOTAVAIL: .addressNotAvailable,
        // A link-local address without its interface.
        EINVAL: .addressNotAvailable,
    ]

    /// Errors of connect(2) with which this machine refused the connection: its firewall rejects what it sends.
    private static let refusedHere: Set<CInt> = [EPERM]

    /// Why a socket could not be opened, bound or connected on this machine; `nil` if the cause may be elsewhere.
    static func socketReason(_ number: CInt) -> Reason? {
        switch number {
        case EMFILE, ENFILE, ENOMEM, ENOBUFS: .outOfMemory
        case EPERM, EACCES: .bindRefused
        // IPv6 is switched off.
        case EAFNOSUPPORT: .addressNotAvailable
        default: localReasons[number]
        }
    }

    static func certificateReason(_ verification: Int32) -> Reason {
        switch verification {
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
        CURLE_SSL_CIPHER: .tlsHandshake, CURLE_BAD_CONTENT_ENCODING: .badEncoding,
        CURLE_FILESIZE_EXCEEDED: .responseTooLarge, CURLE_SEND_FAIL_REWIND: .sendFailed,
        CURLE_SSL_CACERT_BADFILE: .engineFailed, CURLE_SSL_PINNEDPUBKEYNOTMATCH: .pinMismatch,
        CURLE_SSL_INVALIDCERTSTATUS: .certificateInvalid, CURLE_HTTP2_STREAM: .http2,
        CURLE_PROXY: .proxyFailed, CURLE_SSL_CLIENTCERT: .clientCertificate,
        tooLarge: .headerTooLarge,
    ]

    /// CURLE_TOO_LARGE, since 8.6.
    private static let tooLarge = CURLcode(rawValue: 100)
}

extension CURLcode: @retroactive Hashable {}
extension CURLproxycode: @retroactive Hashable {}
