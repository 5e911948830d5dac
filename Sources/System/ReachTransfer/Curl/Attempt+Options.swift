internal import CCurl
internal import Glibc
internal import ReachCore

extension Attempt {
    /// Sets libcurl's options for this attempt.
    ///
    /// - Throws: `not-supported` if libcurl refuses an option; the attempt must then not be started.
    func configure() throws(TransferFailure) {
        let settings = settings
        if settings == nil || handle.settings != settings {
            handle.reset()
            try configureConnection()
            try configureMethod()
            try configureCallbacks()
            if plan.request.url.isSecure { try configureTLS() }
            handle.settings = settings
        }
        if handle.isVerbose {
            try set(CURLOPT_VERBOSE, 0)
            handle.isVerbose = false
        }
        try check(handle.setURL(plan.request.url))
        // An address in the URL needs no option, unless it is IPv4's in the form of IPv6's.
        let (address, url) = (plan.request.proxy == .none ? plan.address : plan.target, plan.request.url)
        let isWritten =
            address == url.address && (address?.family == .ipv6) == url.host.utf8.contains(UInt8(ascii: ":"))
        try check(handle.setAddress(isWritten ? nil : address))
        try configureFields()
    }

    /// The settings that an attempt must share to use the handle without a reset; `nil` if more was set, which the
    /// next attempt must not find.
    private var settings: EasyHandle.Settings? {
        guard upload == nil, plan.request.proxy == .none, plan.request.clientCertificate == nil,
            !plan.request.isPaced,
            !plan.request.bindsConnection, !plan.request.url.hasCredentials
        else { return nil }
        return EasyHandle.Settings(
            owner: plan.request.owner, method: plan.request.method, connection: plan.request.connection,
            mayReuse: plan.mayReuse, mayArriveTwice: plan.mayArriveTwice,
            version: plan.request.version, isSecure: plan.request.url.isSecure,
            decodes: plan.request.decodes, asksForIdentity: plan.request.asksForIdentity)
    }

    private func configureConnection() throws(TransferFailure) {
        let request = plan.request
        // libcurl's signals are not safe with threads; the process ignores SIGPIPE.
        try set(CURLOPT_NOSIGNAL, 1)
        // The engine has timeouts of its own: exact ones, which also run while libcurl waits for something else.
        try set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        // Only Basic, and never from .netrc: libcurl's other schemes authenticate a connection, not a request. Cookies,
        // HSTS and Alt-Svc are off by default; names and TLS sessions are not cached either.
        try set(CURLOPT_HTTPAUTH, Self.basic)
        try set(CURLOPT_PROXYAUTH, Self.basic)
        try set(CURLOPT_NETRC, 0)
        try set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
        let isFresh = request.connection != .pooled || request.bindsConnection
        try set(CURLOPT_FRESH_CONNECT, plan.mayReuse ? 0 : 1)
        // The socket of a paced exchange is not watched for bytes that no request asked for.
        try set(CURLOPT_FORBID_REUSE, isFresh || request.isPaced ? 1 : 0)
        // libcurl then repeats by itself only what the server says that it did not process (Curl_retry_request, 7.88 to
        // 8.19). Without RTSP in libcurl the option is unknown, and ``mayBeginRequest()`` refuses the repetition.
        if !plan.mayArriveTwice { _ = reach_curl_set_long(easy, CURLOPT_RTSP_REQUEST, Int(CURL_RTSPREQ_RECEIVE)) }
        try set(CURLOPT_CONNECT_ONLY, request.connection == .connectOnly ? 1 : 0)
        let isHTTP1 = request.version == .http1 || !(CurlRuntime.current?.hasHTTP2 ?? false)
        // Requests at the same time wait until the first one's connection shows whether they share it, as in browsers.
        try set(CURLOPT_PIPEWAIT, plan.mayReuse && request.url.isSecure && !isHTTP1 ? 1 : 0)
        try set(CURLOPT_HTTP_VERSION, Int((isHTTP1 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS)))
        if let rate = request.rates.sending {
            try check(reach_curl_set_size(easy, CURLOPT_MAX_SEND_SPEED_LARGE, Int(max(rate, 1))))
        }
        if let rate = request.rates.receiving {
            try check(reach_curl_set_size(easy, CURLOPT_MAX_RECV_SPEED_LARGE, Int(max(rate, 1))))
        }
        switch request.proxy {
        case .none:
            // An empty text also keeps libcurl from reading the environment.
            try set(CURLOPT_PROXY, "")
        case .explicit(let proxy):
            let literal = plan.address.family == .ipv6 ? "[\(plan.address)]" : "\(plan.address)"
            // With socks5 libcurl would resolve the target's name, but gets an address in its place. With socks5h it
            // would send an IPv6 address as a name.
            let login = proxy.credentials.map { $0 + "@" } ?? ""
            try set(CURLOPT_PROXY, "\(proxy.scheme)://\(login)\(literal):\(proxy.port)")
            try set(CURLOPT_NOPROXY, "")
            try set(CURLOPT_SOCKS5_AUTH, Self.basic)
            // The request's fields, which may hold credentials, are not for the proxy. CURLHEADER_SEPARATE is a macro.
            try set(CURLOPT_HEADEROPT, 1)
        }
    }

    private func configureFields() throws(TransferFailure) {
        let request = plan.request
        let own = request.sentFields
        guard plan.resume != nil || handle.fields != own else { return }
        // An empty field keeps libcurl from adding its own: "Expect: 100-continue" only delays, and the body is no
        // form.
        var fields: [String] = []
        if Self.posts.contains(request.method) || upload != nil { fields.append("Expect:") }
        if upload == nil, Self.posts.contains(request.method),
            !request.headers.contains(where: { $0.name.lowercased() == "content-type" })
        {
            fields.append("Content-Type:")
        }
        if let resume = plan.resume {
            fields += ["Range: bytes=\(resume.offset)-", "If-Range: \(resume.entityTag)"]
        }
        // A field, and not libcurl's option: ``ContentDecoder`` decodes.
        if request.decodes, !ContentDecoder.encodings.isEmpty {
            fields.append("Accept-Encoding: \(ContentDecoder.encodings)")
        }
        if request.asksForIdentity { fields.append("Accept-Encoding: identity") }
        fields += own.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        try check(handle.setFields(fields, for: plan.resume == nil ? own : nil))
    }

    /// CURLAUTH_BASIC, which is a macro.
    private static let basic = 1

    private static let posts: Set<String> = ["POST", "PUT", "PATCH"]

    private func configureMethod() throws(TransferFailure) {
        let request = plan.request
        if let upload {
            try set(CURLOPT_UPLOAD, 1)
            try set(CURLOPT_CUSTOMREQUEST, request.method)
            // Without a length libcurl sends chunks in HTTP/1.1.
            try check(reach_curl_set_size(easy, CURLOPT_INFILESIZE_LARGE, upload.length.map { Int($0) } ?? -1))
        } else if request.method == "HEAD" {
            try set(CURLOPT_NOBODY, 1)
        } else if Self.posts.contains(request.method) {
            try set(CURLOPT_POST, 1)
            try check(reach_curl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, 0))
            try set(CURLOPT_COPYPOSTFIELDS, "")
            try set(CURLOPT_CUSTOMREQUEST, request.method)
        } else {
            try set(CURLOPT_HTTPGET, 1)
            try set(CURLOPT_CUSTOMREQUEST, request.method == "GET" ? nil : request.method)
        }
    }

    private func configureTLS() throws(TransferFailure) {
        try set(CURLOPT_SSLVERSION, REACH_CURL_TLS_1_2)
        // ``TrustStore`` has the certificates; libcurl reads none.
        try set(CURLOPT_CAINFO, nil)
        try set(CURLOPT_CAPATH, nil)
        try set(CURLOPT_CA_CACHE_TIMEOUT, 0)
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        // The handshake's own check has judged the name; libcurl would also take one of the subject's (RFC 9525).
        try set(CURLOPT_SSL_VERIFYHOST, 0)
        // A resumed session shows no certificates, and each connection's must be checked.
        try set(CURLOPT_SSL_SESSIONID_CACHE, 0)
        guard let client = plan.request.clientCertificate else { return }
        try check(
            reach_curl_set_bytes(easy, CURLOPT_SSLCERT_BLOB, client.certificatePEM, client.certificatePEM.count))
        try check(reach_curl_set_bytes(easy, CURLOPT_SSLKEY_BLOB, client.keyPEM, client.keyPEM.count))
        try set(CURLOPT_KEYPASSWD, client.passphrase)
    }

    func set(_ option: CURLoption, _ value: Int) throws(TransferFailure) {
        try check(reach_curl_set_long(easy, option, value))
    }

    func set(_ option: CURLoption, _ value: String?) throws(TransferFailure) {
        try check(reach_curl_set_string(easy, option, value))
    }

    func check(_ code: CURLcode) throws(TransferFailure) {
        guard code != CURLE_OK else { return }
        throw TransferFailure(
            .notSupported,
            "libcurl \(CurlRuntime.current?.version ?? ""): \(String(cString: curl_easy_strerror(code)))",
            curlCode: Int32(bitPattern: code.rawValue))
    }
}
