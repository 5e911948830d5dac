internal import CCurl
internal import ReachCore

/// Compressed bodies, which are decoded as they arrive, within what a turn of the loop allows.
extension Attempt {
    /// Notes how the body is encoded. One in an encoding that is not known is passed on as it came, as browsers do.
    func noteEncoding(of head: ResponseHead) {
        guard plan.request.decodes(head), reader.redirect == nil else { return }
        let names = head.fields.filter { $0.isNamed("Content-Encoding") }.map(\.value).joined(separator: ",")
        if !names.isEmpty { decoder = ContentDecoder(names) }
    }

    /// Whether something of the body waits to be decoded.
    var hasUndecoded: Bool { decoder?.hasMore ?? false }

    /// Takes a piece of an encoded body.
    ///
    /// - Returns: The result for libcurl's callback. libcurl keeps a piece that comes too early.
    func received(_ bytes: UnsafeRawBufferPointer, for decoder: ContentDecoder) -> Int {
        guard !decoder.hasMore, !mustStopReading else { return Int(CURL_WRITEFUNC_PAUSE) }
        budget.addEncoded(bytes.count)
        decoder.append(bytes)
        return decode() ? bytes.count : 0
    }

    /// Decodes what has arrived until it has to stop for a while.
    ///
    /// - Returns: `false` if the attempt ends.
    func decode() -> Bool {
        guard let decoder else { return true }
        return withUnsafeTemporaryAllocation(byteCount: ContentDecoder.pieceBytes, alignment: 16) { space in
            while decoder.hasMore, !mustStopReading {
                guard let count = decoder.next(into: space) else {
                    refuse(failure(.badEncoding, "the body is not in the encoding that its head names", curlCode: 61))
                    return false
                }
                multi?.shares.addDecoded(count)
                guard accept(UnsafeRawBufferPointer(rebasing: space[..<count])) else { return false }
            }
            if budget.isMostlyFraming { refuse(failure(.badResponse, "hardly anything but framing", curlCode: 56)) }
            return evidence.refusal == nil
        }
    }

    /// Refuses a body that ended within its encoding, when libcurl has reported its end.
    func checkDecoded() {
        guard decoder?.isTruncated == true else { return }
        refuse(failure(.truncated, "the compressed body ends too early", curlCode: 18))
    }

    private func failure(_ reason: TransferFailure.Reason, _ text: String, curlCode: Int32) -> TransferFailure {
        TransferFailure(reason, "\(plan.request.url.host): \(text)", curlCode: curlCode)
    }
}

/// The answer of a proxy to CONNECT, before there is a tunnel.
extension Attempt {
    /// Reads a line of a proxy's answer to CONNECT. libcurl would also read the body of a refusal, byte by byte and
    /// without end, to ask once more with other credentials, which there are not.
    ///
    /// - Returns: Whether libcurl reads on.
    func receivedProxys(line bytes: UnsafeRawBufferPointer) -> Bool {
        var reader = proxyReader ?? Self.readerForProxy
        defer { proxyReader = reader }
        switch reader.read(line: bytes) {
        case .head(let head) where head.status >= 300:
            // The status says why it refuses.
            guard head.contentLength ?? 0 > Self.longestProxyAnswer else { return false }
        case .fail(let failure) where failure.reason == .headerTooLarge: break
        default: return true
        }
        let host = plan.request.url.host
        refuse(TransferFailure(.proxyFailed, "\(host): the proxy's answer to CONNECT does not end", curlCode: 56))
        return false
    }

    private static let longestProxyAnswer = 64 << 10

    private static var readerForProxy: ResponseReader {
        var limit = ResponseLimit(bodyBytes: .max)
        limit.headerBytes = longestProxyAnswer
        return ResponseReader(method: "CONNECT", limit: limit)
    }
}
