internal import ReachCore
internal import ReachTransfer

/// A probe, and what all its attempts have in common: made once.
package final class ProbeTerms: Sendable {
    package let specification: ProbeSpecification
    /// The request of an attempt by the kernel's choice of a path, or why there can be none; `nil` for kinds that make none.
    let request: Result<TransferRequest, TransferFault>?

    /// Why no request can be made, as a sentence.
    struct TransferFault: Error, CustomStringConvertible {
        let description: String
    }

    package init(_ specification: ProbeSpecification) {
        self.specification = specification
        guard specification.target.kind.isTransfer else {
            request = nil
            return
        }
        request = Result { try TransferAttempt.request(for: specification) }.mapError {
            TransferFault(description: "\($0)")
        }
    }
}
