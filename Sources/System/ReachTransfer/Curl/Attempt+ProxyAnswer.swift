internal import ReachCore

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
