import CCurl
import Glibc
import Testing

@testable import ReachTransfer

/// The reasons and classes of libcurl's results.
struct TransferFailureTests {
    @Test(
        arguments: [
            (CURLE_COULDNT_CONNECT, ENETUNREACH, .networkUnreachable, .localNetwork),
            (CURLE_COULDNT_CONNECT, ENETDOWN, .networkDown, .localNetwork),
            (CURLE_COULDNT_CONNECT, EADDRNOTAVAIL, .addressNotAvailable, .localNetwork),
            // A link-local address without an interface, and a firewall that rejects what is sent.
            (CURLE_COULDNT_CONNECT, EINVAL, .addressNotAvailable, .localNetwork),
            (CURLE_COULDNT_CONNECT, EPERM, .networkUnreachable, .localNetwork),
            (CURLE_RECV_ERROR, ENODEV, .noDevice, .localNetwork),
            (CURLE_SEND_ERROR, ENETDOWN, .networkDown, .localNetwork),
            // A distant router may have sent it: other evidence decides.
            (CURLE_COULDNT_CONNECT, EHOSTUNREACH, .hostUnreachable, .destination),
            (CURLE_COULDNT_CONNECT, ECONNREFUSED, .connectionRefused, .destination),
            (CURLE_COULDNT_CONNECT, ETIMEDOUT, .connectTimeout, .destination),
            (CURLE_COULDNT_CONNECT, 0, .connectFailed, .destination),
            (CURLE_RECV_ERROR, ECONNRESET, .connectionReset, .destination),
            (CURLE_SEND_ERROR, EPIPE, .connectionReset, .destination),
            (CURLE_SEND_ERROR, 0, .sendFailed, .destination),
            // `errno` of an earlier error that did not matter.
            (CURLE_PARTIAL_FILE, ENETUNREACH, .truncated, .destination),
            (CURLE_GOT_NOTHING, 0, .emptyResponse, .destination),
            (CURLE_SSL_CONNECT_ERROR, 0, .tlsHandshake, .destination),
            (CURLE_HTTP2, 0, .http2, .destination), (CURLE_HTTP2_STREAM, 0, .http2, .destination),
            // The scheme was checked before: this libcurl lacks it, and the next one may have it.
            (CURLE_UNSUPPORTED_PROTOCOL, 0, .engineFailed, .local),
            (CURLE_URL_MALFORMAT, 0, .badRequest, .request),
            (CURLE_TOO_MANY_REDIRECTS, 0, .tooManyRedirects, .request),
            (CURLE_SSL_CERTPROBLEM, 0, .clientCertificate, .security),
            (CURLE_SSL_PINNEDPUBKEYNOTMATCH, 0, .pinMismatch, .security),
            (CURLE_INTERFACE_FAILED, 0, .bindRefused, .refused),
            (CURLE_FILESIZE_EXCEEDED, 0, .responseTooLarge, .refused),
            (CURLE_OUT_OF_MEMORY, 0, .outOfMemory, .local), (CURLE_READ_ERROR, 0, .fileFailed, .local),
            // A number that no libcurl has.
            (CURLcode(rawValue: 9999), 0, .engineFailed, .local),
            // The machine's bundle of certificates cannot be read: nothing is wrong with the request.
            (CURLE_SSL_CACERT_BADFILE, 0, .engineFailed, .local),
        ] as [(CURLcode, Int32, TransferFailure.Reason, TransferFailure.Class)])
    func `a result has its reason and its class`(
        code: CURLcode, number: Int32, reason: TransferFailure.Reason, kind: TransferFailure.Class
    ) {
        let failure = TransferFailure(code, TransferEvidence(systemError: number), host: "h")
        #expect(failure.reason == reason)
        #expect(failure.kind == kind)
        #expect(failure.curlCode == Int32(bitPattern: code.rawValue))
        #expect(failure.message.hasPrefix("h: "))
    }

    @Test(
        arguments: [
            (X509_V_ERR_CERT_HAS_EXPIRED, .certificateExpired),
            (X509_V_ERR_CERT_NOT_YET_VALID, .certificateNotYetValid),
            (X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, .certificateUntrusted),
            (X509_V_ERR_HOSTNAME_MISMATCH, .certificateWrongHost),
            (X509_V_ERR_CERT_SIGNATURE_FAILURE, .certificateInvalid),
        ] as [(Int32, TransferFailure.Reason)])
    func `a refused certificate has its own reason`(verification: Int32, reason: TransferFailure.Reason) {
        let evidence = TransferEvidence(verification: verification)
        let failure = TransferFailure(CURLE_PEER_FAILED_VERIFICATION, evidence, host: "h")
        #expect(failure.reason == reason)
        #expect(failure.kind == .security)
    }

    @Test func `a callback's reason takes precedence over libcurl's result`() {
        let refusal = TransferFailure(.wrongPath, "not over this path")
        let failure = TransferFailure(CURLE_ABORTED_BY_CALLBACK, TransferEvidence(refusal: refusal), host: "h")
        #expect(failure == refusal)
    }

    @Test func `words are stable, in small letters`() {
        for reason in TransferFailure.Reason.allCases {
            #expect(reason.rawValue.utf8.allSatisfy { $0 == 45 || 97...122 ~= $0 || 48...57 ~= $0 })
        }
    }
}
