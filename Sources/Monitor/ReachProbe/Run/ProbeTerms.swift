internal import ReachCore
internal import ReachTransfer

/// A probe, and what all its attempts have in common: made once.
package final class ProbeTerms: Sendable {
    package let specification: ProbeSpecification
    /// The request of an attempt by the kernel's choice of a path, or why there can be none; `nil` for kinds that make
    /// none.
    let request: Result<TransferRequest, TransferFault>?
    /// Those of an attempt over a path where each packet costs money.
    private let single: ProbeTerms?

    /// Why no request can be made, as a sentence.
    struct TransferFault: Error, CustomStringConvertible {
        let description: String
    }

    package init(_ specification: ProbeSpecification) {
        self.specification = specification
        let isSpared = specification.burst != nil && !specification.burstsOnMetered
        single = isSpared ? ProbeTerms(specification.withoutBurst) : nil
        guard specification.target.kind.isTransfer else {
            request = nil
            return
        }
        request = Result { try TransferAttempt.request(for: specification) }.mapError {
            TransferFault(description: "\($0)")
        }
    }

    /// The terms of an attempt over a path.
    ///
    /// - Parameter isMetered: Whether the path is metered, or may be.
    package func overPath(isMetered: Bool) -> ProbeTerms { isMetered ? single ?? self : self }
}
