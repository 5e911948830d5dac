internal import CCurl
internal import ReachCore

// The handshake of TLS: which servers are asked for what, and which are trusted. libcurl decides neither.

extension Attempt {
    func configureHandshake() throws(TransferFailure) {
        try check(reach_curl_set_tls_context(easy, prepareTLS))
        try check(reach_curl_set_pointer(easy, CURLOPT_SSL_CTX_DATA, Unmanaged.passUnretained(handle).toOpaque()))
    }

    fileprivate func prepare(_ context: OpaquePointer) {
        noteConnected()
        watchConnections(of: context)
        let attempt = Unmanaged.passUnretained(self).toOpaque()
        reach_tls_bound_handshake(context, CertificateBounds.listBytes, readMessage, attempt)
        plan.trust?.apply(to: context)
        SSL_CTX_set_cert_verify_callback(context, verifyChain, attempt)
    }

    /// Whether the server's certificates are read.
    fileprivate func mayRead(_ message: [UInt8], isTLS13: Bool) -> Bool {
        guard let fault = CertificateBounds.fault(ofMessage: message, isTLS13: isTLS13) else { return true }
        refuse(TransferFailure(.certificateInvalid, "\(plan.request.url.host): \(fault)", curlCode: 60))
        return false
    }

    /// Judges the server's certificates and its name.
    fileprivate func verify(_ context: OpaquePointer) -> Bool {
        let (request, own) = (plan.request, X509_STORE_CTX_get0_cert(context))
        guard evidence.refusal == nil,
            let host = URLHost(ofTrust: request.url.address?.description ?? request.url.host)
        else { return false }
        let judgement = ChainJudge(policy: request.security).judge(context)
        found.certificate = judgement.certificate
        let verdict = request.security.verdict(judgement, own: own, host: host)
        evidence.verification = judgement.verification
        evidence.isPinMismatch = judgement.isPinMismatch
        let isTrusted = request.trustJudge?.isTrusted(trust(context, own, host, verdict)) ?? verdict.isTrusted
        if isTrusted {
            X509_STORE_CTX_set_error(context, X509_V_OK)
            return true
        }
        // What OpenSSL found wrong, libcurl says by itself.
        guard request.trustJudge != nil || judgement.isAccepted || judgement.isPinMismatch else { return false }
        X509_STORE_CTX_set_error(context, X509_V_ERR_APPLICATION_VERIFICATION)
        if judgement.isPinMismatch, request.trustJudge == nil { return false }
        let reason = TransferFailure.Reason(rawValue: verdict.word) ?? .certificateUntrusted
        let why = verdict.isTrusted ? "\(host.name): the program does not trust the server" : verdict.description
        refuse(TransferFailure(reason, why, curlCode: 60))
        return false
    }

    /// The server's certificates, for the caller's block.
    private func trust(
        _ context: OpaquePointer, _ own: OpaquePointer?, _ host: URLHost, _ verdict: TrustVerdict
    ) -> ServerTrust {
        let sent = X509_STORE_CTX_get0_untrusted(context)
        var chain = (0..<reach_x509_count(sent)).compactMap { reach_x509_at(sent, $0).map(PeerCertificate.bytes) }
        if let own, case let bytes = PeerCertificate.bytes(own), chain.first != bytes { chain.insert(bytes, at: 0) }
        return ServerTrust(host: host.name, chain: chain.map(CertificateData.init(bytes:)), verdict: verdict)
    }
}

private func prepareTLS(
    _: UnsafeMutableRawPointer?, context: UnsafeMutableRawPointer?, handle: UnsafeMutableRawPointer?
) -> CURLcode {
    guard let context, let handle,
        let attempt = Unmanaged<EasyHandle>.fromOpaque(handle).takeUnretainedValue().attempt
    else { return CURLE_ABORTED_BY_CALLBACK }
    attempt.prepare(OpaquePointer(context))
    return CURLE_OK
}

/// Called with the server's certificates before OpenSSL reads them.
private func readMessage(
    _ message: UnsafePointer<UInt8>?, _ count: Int, _ isTLS13: CInt, _ attempt: UnsafeMutableRawPointer?
) -> CInt {
    guard let attempt else { return 0 }
    let bytes = Array(UnsafeBufferPointer(start: message, count: count))
    let isRead = Unmanaged<Attempt>.fromOpaque(attempt).takeUnretainedValue().mayRead(bytes, isTLS13: isTLS13 != 0)
    return isRead ? 1 : 0
}

private func verifyChain(_ context: OpaquePointer?, _ attempt: UnsafeMutableRawPointer?) -> CInt {
    guard let context, let attempt else { return 0 }
    return Unmanaged<Attempt>.fromOpaque(attempt).takeUnretainedValue().verify(context) ? 1 : 0
}
