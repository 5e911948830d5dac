internal import ReachCore

extension RequestSpecification {
    /// The same specification with an idempotency key where it may not be repeated without one, and with the header
    /// field that carries its key.
    ///
    /// - Parameter makeKey: Returns a new, unique key: a UUIDv7, so that keys sort by time in a server's table.
    package func completed(makeKey: () -> String) -> RequestSpecification {
        if terms.uniqueness.joinForm != nil, terms.joinGroup == nil {
            var joined = self
            joined.joinGroup = joinGroupText
            return joined.completed(makeKey: makeKey)
        }
        var copy = self
        let field = headers.first { $0.isNamed(Self.keyField) }
        switch (terms.idempotency, field) {
        case (.key(let key), _):
            guard field?.value != key else { return self }
            copy.headers.removeAll { $0.isNamed(Self.keyField) }
            copy.headers.append(HeaderField(Self.keyField, key))
        case (.never, _): return self
        case (.byMethod, let field?): copy.idempotency = .key(field.value)
        case (.byMethod, nil):
            guard !isRepeatable else { return self }
            copy.idempotency = .key(makeKey())
            return copy.completed(makeKey: makeKey)
        }
        return copy
    }

    /// Whether ``completed(makeKey:)`` would change nothing: most requests may be repeated, and have no key.
    package var isComplete: Bool {
        guard terms.uniqueness.joinForm == nil else { return false }
        return terms.idempotency == .never
            || terms.idempotency == .byMethod && isRepeatable && !headers.contains { $0.isNamed(Self.keyField) }
    }

    static let keyField = "Idempotency-Key"

    /// The longest method in bytes.
    package static let longestMethod = 32

    /// Checks it against what HTTP allows and what the queue accepts.
    ///
    /// - Parameter fieldsAreChecked: Whether it is known that the header fields can be sent.
    /// - Throws: ``RequestValidationError``, which names the field and the text at fault.
    package func check(_ limits: QueueLimits, fieldsAreChecked: Bool = false) throws(RequestValidationError) {
        guard method.utf8.count <= Self.longestMethod, RequestFieldFault.isToken(method) else {
            throw RequestValidationError(.method, "'\(DisplayText.excerpt(method))' is not a method such as GET")
        }
        guard method != "CONNECT" else {
            throw RequestValidationError(.method, "'CONNECT' asks for a tunnel, not for an answer")
        }
        guard headers.count <= QueueLimits.mostHeaders else {
            throw RequestValidationError(
                .header, "\(headers.count) headers are too many: at most \(QueueLimits.mostHeaders)")
        }
        if let key = terms.idempotency.key, key.utf8.count > limits.keyBytes {
            throw RequestValidationError(.header, "an idempotency key has at most \(limits.keyBytes) bytes")
        }
        var fault = fieldsAreChecked ? nil : RequestFieldFault.first(in: headers)
        if fault == nil, case .key(let key) = terms.idempotency { fault = RequestFieldFault(Self.keyField, key) }
        if let fault { throw RequestValidationError(.header, fault.description) }
        let headBytes = url.utf8.count + headers.reduce(0) { $0 + $1.lineBytes }
        guard headBytes <= limits.headBytes else {
            throw RequestValidationError(
                .header, "URL and headers take \(headBytes) bytes; at most \(limits.headBytes) are allowed")
        }
        try checkBody(limits)
        if let timeToLive = terms.timeToLive { try Self.checkLife(timeToLive) }
        if let maximumAttempts = terms.maximumAttempts, maximumAttempts < 1 {
            throw RequestValidationError(.maximumAttempts, "'\(maximumAttempts)' attempts are too few: at least 1")
        }
        if let timeouts = terms.timeouts, !timeouts.isPositive {
            throw RequestValidationError(.timeouts, "a time limit of an attempt needs some time")
        }
        if let tag = terms.tag, tag.utf8.count > limits.headBytes {
            throw RequestValidationError(.tag, "a tag has at most \(limits.headBytes) bytes")
        }
        if let interceptor = terms.interceptor, interceptor.isEmpty || interceptor.utf8.count > limits.keyBytes {
            throw RequestValidationError(
                .interceptor, "the name of an interceptor has 1 to \(limits.keyBytes) bytes")
        }
        try checkUpload()
        try checkJoin(limits)
        try checkStatuses()
        try checkKeys(limits)
    }

    /// Checks the body alone, of a specification that was checked without it.
    ///
    /// - Throws: ``RequestValidationError``.
    package func checkBody(_ limits: QueueLimits) throws(RequestValidationError) {
        guard case .inline(let bytes) = body, bytes.count > limits.inlineBodyBytes else { return }
        throw RequestValidationError(.body, "a body of \(bytes.count) bytes is too large for the queue's file")
    }

    private static func checkLife(_ life: Duration) throws(RequestValidationError) {
        guard life > .zero else { throw RequestValidationError(.timeToLive, "a request needs some time") }
        guard life <= QueueLimits.longestLife else {
            let days = QueueLimits.longestLife.components.seconds / 86_400
            throw RequestValidationError(.timeToLive, "a request waits for at most \(days) days")
        }
    }

    private func checkUpload() throws(RequestValidationError) {
        guard let uploadProtocol = terms.uploadProtocol else { return }
        guard method == "POST" || method == "PATCH" else {
            throw RequestValidationError(
                .uploadProtocol,
                "'\(method)' does not go with \(uploadProtocol.rawValue): POST makes an upload, PATCH resumes one")
        }
        guard terms.outputPath == nil else {
            throw RequestValidationError(.uploadProtocol, "the answer to a resumable upload has no file")
        }
        if let field = headers.first(where: { field in Self.uploadFields.contains { field.isNamed($0) } }) {
            throw RequestValidationError(
                .header, "'\(field.name)' is set by the resumable upload itself")
        }
    }

    private static let uploadFields = ["Tus-Resumable", "Upload-Offset", "Upload-Length"]

    /// More ranges would use room that counts towards no limit.
    package static let mostStatusRanges = 32

    private func checkStatuses() throws(RequestValidationError) {
        guard terms.acceptedStatuses.count <= Self.mostStatusRanges else {
            throw RequestValidationError(
                .acceptedStatuses,
                "\(terms.acceptedStatuses.count) ranges of statuses are too many: at most \(Self.mostStatusRanges)")
        }
        guard
            let odd = terms.acceptedStatuses.first(where: {
                !(100...599).contains($0.lowerBound) || $0.upperBound > 599
            })
        else { return }
        throw RequestValidationError(
            .acceptedStatuses, "\(odd.lowerBound)-\(odd.upperBound) are no statuses: they go from 100 to 599")
    }

    private func checkKeys(_ limits: QueueLimits) throws(RequestValidationError) {
        if let orderKey = terms.orderKey, orderKey.isEmpty || orderKey.utf8.count > limits.keyBytes {
            throw RequestValidationError(.orderKey, "an order key has 1 to \(limits.keyBytes) bytes")
        }
        let name: String
        switch terms.uniqueness {
        case .none:
            if terms.dependsOnPrevious, terms.orderKey == nil {
                throw RequestValidationError(
                    .orderKey, "a request can depend on the one before it only with an order key")
            }
            return
        case .unique(let text, _): name = text
        case .coalesce(let text), .joined(let text, _): name = text
        }
        guard !name.isEmpty, name.utf8.count <= limits.keyBytes else {
            throw RequestValidationError(.uniqueness, "a key has 1 to \(limits.keyBytes) bytes")
        }
        guard terms.orderKey == nil else {
            throw RequestValidationError(
                .uniqueness,
                "an order key and a name that makes a request unique exclude each other: the name orders, too")
        }
    }
}

/// Why a request cannot be queued as it was written: the client has to change it.
package struct RequestValidationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which part of the request is wrong.
    package struct Field: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
        package let rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }

        package init(stringLiteral name: String) { rawValue = name }

        package static let url: Field = "url"
        package static let method: Field = "method"
        package static let header: Field = "header"
        package static let body: Field = "body"
        package static let condition: Field = "when"
        package static let timeToLive: Field = "expires"
        package static let priority: Field = "priority"
        package static let orderKey: Field = "order"
        package static let uniqueness: Field = "key"
        package static let mode: Field = "mode"
        package static let maximumAttempts: Field = "max-attempts"
        package static let acceptedStatuses: Field = "accept"
        package static let timeouts: Field = "timeouts"
        package static let tag: Field = "tag"
        package static let interceptor: Field = "interceptor"
        package static let uploadProtocol: Field = "upload-protocol"
        package static let proxy: Field = "proxy"
    }

    package let field: Field
    /// A sentence for people, which names the text at fault.
    package let description: String

    package init(_ field: Field, _ description: String) {
        self.field = field
        self.description = description
    }
}
