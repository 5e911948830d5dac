internal import CCurl

/// Compressed bodies, which libcurl decodes as they arrive.
extension Attempt {
    /// Whether the response is decoded, up to a limit (``TransferRequest/decodesWithinLimit``).
    var isDecodedWithinLimit: Bool { evidence.isDecoding && plan.request.decodesWithinLimit }

    /// Notes how the body is encoded. Has libcurl pass on one in an encoding that it does not know, as browsers do: it reads the
    /// option with each piece of the body; versions since 8.7 read it before, and fail.
    func noteEncoding(of head: ResponseHead) {
        let encoding = plan.request.decodes ? head["content-encoding"]?.lowercased() : nil
        evidence.isDecoding = encoding != nil
        // Deflate makes at most 1032 bytes of one (zlib's technical details).
        growsWithoutBound = isDecodedWithinLimit && !["gzip", "x-gzip", "deflate"].contains(encoding)
        guard let encoding, CurlRuntime.current?.decodes(encoding) != true else { return }
        _ = reach_curl_set_long(easy, CURLOPT_HTTP_CONTENT_DECODING, 0)
        handle.settings = nil
    }

    /// Whether what libcurl decodes of the buffer that it has read is kept here. libcurl would keep at most 64 MiB, and since 8.13
    /// it decodes more each time before it passes on what it keeps.
    var hasSpaceForDecoded: Bool {
        guard case .body(let bytes)? = parts.last else { return true }
        return bytes.count < Self.mostDecoded
    }

    /// More than a buffer of 16 KiB that gzip packed; other encodings pack more.
    private static let mostDecoded = 32 << 20

    /// Whether a decoded response may go on, in which few bytes can stand for gigabytes.
    func mayUnpack() -> Bool {
        var received = 0
        guard reach_curl_get_long(easy, CURLINFO_SIZE_DOWNLOAD_T, &received) == CURLE_OK else { return true }
        budget.setEncoded(received)
        guard growsWithoutBound, budget.isUnpackingTooMuch else { return true }
        refuse(ResponseReader.unpacksTooMuch)
        return false
    }
}
