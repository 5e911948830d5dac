internal import ReachCore

/// How the bodies of several requests become one.
package enum JoinForm: String, Hashable, Sendable, CaseIterable {
    /// One after the other, each at the beginning of a line.
    case lines
    /// An array of JSON documents.
    case json

    /// The joined body. One alone has the same form.
    package func join(_ bodies: [[UInt8]]) -> [UInt8] {
        var joined: [UInt8] = []
        joined.reserveCapacity(bodies.reduce(2) { $0 + $1.count + 1 })
        switch self {
        case .lines:
            for body in bodies {
                joined += body
                if body.last != UInt8(ascii: "\n") { joined.append(UInt8(ascii: "\n")) }
            }
        case .json:
            joined.append(UInt8(ascii: "["))
            for (number, body) in bodies.enumerated() {
                if number > 0 { joined.append(UInt8(ascii: ",")) }
                joined += body
            }
            joined.append(UInt8(ascii: "]"))
        }
        return joined
    }
}

extension RequestUniqueness {
    /// How the body is joined with others; `nil` if it is not.
    package var joinForm: JoinForm? {
        if case .joined(_, let form) = self { form } else { nil }
    }
}

extension RequestSpecification {
    /// The most bytes of one body that is joined, where no less is configured.
    static let longestJoined = 256 << 10

    /// - Throws: ``RequestValidationError``, which names what makes it impossible to join the body with others.
    func checkJoin(_ limits: QueueLimits) throws(RequestValidationError) {
        guard let form = terms.uniqueness.joinForm else { return }
        guard case .inline(let bytes) = body, !bytes.isEmpty else {
            throw RequestValidationError(.body, "a request that is joined needs a body, in the request itself")
        }
        guard bytes.count <= limits.joinedBytes else {
            throw RequestValidationError(
                .body, "a body of \(bytes.count) bytes is too large to be joined: at most \(limits.joinedBytes)")
        }
        if form == .json {
            do throws(JSONError) {
                _ = try JSONReader.outline(bytes, .asFoundation)
            } catch {
                throw RequestValidationError(.body, "it is no JSON, \(error)")
            }
        }
        guard terms.uploadProtocol == nil, terms.outputPath == nil, terms.interceptor == nil else {
            throw RequestValidationError(
                .mode, "a request that is joined has no upload, file or interceptor of its own")
        }
        guard terms.orderKey == nil, !terms.dependsOnPrevious else {
            throw RequestValidationError(.mode, "a request that is joined has no place in an order")
        }
        guard terms.idempotency == .byMethod, !headers.contains(where: { $0.isNamed(Self.keyField) }) else {
            throw RequestValidationError(.header, "a request that is joined has no idempotency key of its own")
        }
    }

    /// What requests of one user must have in common to be joined: everything but the body.
    ///
    /// A hash of 128 bits: requests that meet by accident would have to be a user's own.
    var joinGroupText: String {
        var (one, two): (UInt64, UInt64) = (0xcbf2_9ce4_8422_2325, 0x6c62_272e_07bb_0142)
        func add(_ text: String) {
            for byte in text.utf8 + [0] {
                one = (one ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
                two = (two ^ UInt64(byte) ^ 0x5a) &* 0x0000_0100_0000_01b3 ^ two >> 29
            }
        }
        add(method)
        add(url)
        add(destination.description)
        for field in headers where !field.isNamed(Self.keyField) {
            add(field.name)
            add(field.value)
        }
        var others = terms
        (others.idempotency, others.joinGroup) = (.byMethod, nil)
        for term in RequestTerm.all { add(term.write(others).map { "\($0)" } ?? "") }
        return String(one, radix: 16) + "-" + String(two, radix: 16)
    }

    /// The request with the bodies of those that it carries.
    ///
    /// - Parameter bodies: Its own, and those of the others, in their order.
    package func carrying(_ bodies: [[UInt8]]) -> RequestSpecification {
        guard let form = terms.uniqueness.joinForm else { return self }
        var carrier = self
        carrier.body = .inline(form.join(bodies))
        guard bodies.count > 1 else { return carrier }
        // Its own key stands for its own body alone, which may be sent apart later.
        carrier.headers = headers.map { field in
            field.isNamed(Self.keyField) ? HeaderField(field.name, field.value + ".joined") : field
        }
        return carrier
    }
}
