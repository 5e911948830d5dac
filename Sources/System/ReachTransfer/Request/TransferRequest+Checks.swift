internal import ReachCore

extension TransferRequest {
    /// What is wrong with the request; `nil` if it may be sent.
    var fault: TransferFailure? {
        guard RequestFieldFault.isToken(self.method), self.method != "CONNECT" else {
            return TransferFailure(.badRequest, "the method '\(DisplayText.sanitized(self.method))' is none")
        }
        // The fields were checked where the request was made. This also covers requests that were stored before that
        // check existed, and fields that were added since.
        if let fault = RequestFieldFault.first(in: self.headers) {
            return TransferFailure(.badRequest, fault.description)
        }
        if self.security.hasPins, !self.url.isSecure {
            // As AFHTTPSessionManager refuses a pinning policy without an https base URL.
            return TransferFailure(.badRequest, "\(self.url): pinning needs https")
        }
        if self.addresses?.isEmpty == true { return TransferFailure(.badRequest, "\(self.url): no address is given") }
        if let source = self.source, let family = self.family, source.family != family {
            return TransferFailure(.badRequest, "\(source) is not of the family asked for")
        }
        return nil
    }

    /// Whether the caller requests a range by itself. It then checks the response's range itself.
    var hasOwnRange: Bool { self.headers.contains { $0.isNamed("Range") } }

    /// Whether the server may choose an encoding. An encoded response cannot be resumed: the offset is that of decoded
    /// bytes.
    var decodes: Bool { self.acceptsEncodings && resumable == nil && !choosesBytes }

    /// Whether the server is asked not to encode the response; see ``undoesEncodings``.
    var asksForIdentity: Bool { self.undoesEncodings && !decodes && !choosesBytes }

    /// Whether the caller says by itself which bytes it wants, and gets them as they come.
    private var choosesBytes: Bool { hasOwnRange || self.headers.contains { $0.isNamed("Accept-Encoding") } }

    /// Whether a response with this head is decoded, if it is in an encoding that is known.
    func decodes(_ head: ResponseHead) -> Bool {
        // A part of a representation is no whole encoding. And a compressed archive is what the program wants, though
        // some servers name its compression twice, or as the encoding of what it has inside; Firefox keeps it, too.
        decodes || asksForIdentity && head.status == 200 && !head.isArchive && !self.url.namesArchive
    }

    /// Whether the request authenticates its connection: NTLM and Negotiate admit a connection, not a request (RFC 4559
    /// section 6). The connection is then used for nothing else.
    var bindsConnection: Bool {
        self.headers.contains { field in
            guard field.isNamed("Authorization") else { return false }
            let scheme = field.value.prefixScalars { $0 != " " && $0 != "\t" }.lowercased()
            return ["ntlm", "negotiate", "kerberos"].contains(scheme)
        }
    }

    /// Where a download resumes; `nil` for other methods than GET, and without a strong entity tag.
    var resumable: ResumePoint? {
        guard self.method == "GET", !hasOwnRange, case .file(let sink) = self.sink, let resume = sink.resume,
            resume.offset > 0,
            ResumePoint.isStrong(resume.entityTag)
        else { return nil }
        return resume
    }

    /// The redirect that a response asks for.
    ///
    /// - Throws: `unsupported-protocol` for anything but http and https, and `redirect-refused` if the policy
    ///   forbids it.
    package func redirect(to reference: String, status: Int) throws(TransferFailure) -> Redirect {
        let tooLong = TransferFailure(
            .badRequest, "redirect to a URL of more than \(Redirect.longestURL) bytes", curlCode: 3)
        guard reference.utf8.count <= Redirect.longestURL else { throw tooLong }
        let target: TransferURL
        do throws(TransferURL.ValidationError) {
            target = try self.url.resolving(reference)
        } catch {
            let isScheme = error.kind == .unsupportedScheme
            throw TransferFailure(
                isScheme ? .unsupportedProtocol : .badRequest, "redirect to \(error)", curlCode: isScheme ? 1 : 3)
        }
        // What is relative to a path makes it longer each time.
        guard target.description.utf8.count <= Redirect.longestURL else { throw tooLong }
        if self.security.hasPins, !target.hasOrigin(of: self.url) {
            throw TransferFailure(
                .redirectRefused, "pins hold for \(self.url.host) only, not for a redirect to \(target)")
        }
        if self.url.isSecure, !target.isSecure {
            throw TransferFailure(.redirectRefused, "the redirect to \(target) would leave https")
        }
        let becomesGET =
            status == 303 && self.method != "HEAD" || (status == 301 || status == 302) && self.method == "POST"
        return Redirect(status: status, from: self.url, to: target, method: becomesGET ? "GET" : self.method)
    }

    /// Makes this the request of the next hop.
    ///
    /// - Parameter keepsBody: Whether the body goes along with another method, too.
    package mutating func follow(_ redirect: Redirect, keepsBody: Bool = false) {
        if redirect.method != self.method {
            // The key of what only the first request did.
            self.headers.removeAll { $0.isNamed("Idempotency-Key") }
            if !keepsBody {
                self.body = .none
                self.headers.removeAll { $0.name.lowercased().hasUTF8Prefix("content-") }
            }
        }
        if !redirect.to.hasOrigin(of: self.url) {
            self.headers.removeAll { $0.isNamedAsSecret || $0.isNamed("Host") }
            self.clientCertificate = nil
        }
        if redirect.to.host != self.url.host { self.addresses = nil }
        self.cookies = nil
        self.method = redirect.method
        self.url = redirect.to
    }
}

extension ResponseHead {
    /// Whether the content itself is compressed, by its type.
    fileprivate var isArchive: Bool {
        let type = self["content-type"].map { $0.prefixScalars { $0 != ";" }.trimmed.lowercased() } ?? ""
        return Self.archives.contains(type)
    }

    private static let archives: Set<String> = [
        "application/gzip", "application/x-gzip", "application/x-gunzip", "application/gzipped", "application/x-tgz",
        "application/x-gtar", "application/x-compress", "application/x-compressed", "application/zstd",
        "application/x-brotli",
    ]
}

extension TransferURL {
    /// Whether the path ends as the name of a compressed file does.
    fileprivate var namesArchive: Bool {
        let path = description.prefixScalars { $0 != "?" }.lowercased()
        return [".gz", ".tgz", ".z", ".br", ".zst"].contains { path.hasUTF8Suffix($0) }
    }
}
