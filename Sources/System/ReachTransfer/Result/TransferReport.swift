package import ReachCore

/// The result of a transfer, reported once at its end.
package struct TransferReport: Hashable, Sendable {
    /// A response of any status, or a failure. With ``ConnectionUse/connectOnly`` the response is `nil`.
    package var outcome: Result<ResponseHead?, TransferFailure>
    /// In order; the outcome is about the last one. Never empty.
    package var hops: [TransferHop]
    /// The body, if it went into memory; after a failure, the part that was received.
    package var body: [UInt8] = []
    /// The bytes of the file that belong to the body; `nil` if it did not go into a file.
    package var fileBytes: UInt64?
    /// Whether the body was cut at the limit, by ``ResponseLimit/Action/stop``.
    package var isCut = false
    /// Bytes of bodies sent and received, in all hops.
    package var sentBytes: UInt64 = 0
    package var receivedBytes: UInt64 = 0
    /// Where a download to a file can be resumed; `nil` if it cannot or need not be.
    package var resume: ResumePoint?

    package init(outcome: Result<ResponseHead?, TransferFailure>, hops: [TransferHop]) {
        self.outcome = outcome
        self.hops = hops
    }

    package var failure: TransferFailure? {
        if case .failure(let failure) = outcome { failure } else { nil }
    }

    package var response: ResponseHead? {
        if case .success(let head) = outcome { head } else { nil }
    }
}

/// The status and header fields of a response.
package struct ResponseHead: Hashable, Sendable {
    package var status: Int
    /// As received: `HTTP/1.1`, `HTTP/2`.
    package var version: String
    package var fields: [HeaderField]
    /// The length of the body; `nil` if the server does not send it.
    package var contentLength: UInt64?

    package init(status: Int, version: String, fields: [HeaderField], contentLength: UInt64? = nil) {
        self.status = status
        self.version = version
        self.fields = fields
        self.contentLength = contentLength
    }

    /// The value of the first field of this name, whatever its case.
    package subscript(name: String) -> String? {
        for index in fields.indices where fields[index].isNamed(name) { return fields[index].value }
        return nil
    }
}
