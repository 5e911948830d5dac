/// A Varlink interface: its definition, and the functions that answer its methods.
package struct VarlinkInterface {
    package struct Method {
        package enum Access: Sendable {
            /// Every caller may call it.
            case reading
            /// Only callers that ``ControlAuthority`` allows to change something may call it.
            case changing
        }

        package enum Cost: Sendable {
            /// The call costs only its turn on the loop's thread.
            case small
            /// The call uses time on other threads, or memory, of which users would deprive one another. Such a
            /// method only reads: a one-way call of it is over at once.
            case large
            /// The call is over when the queue's file has what it changes. What is written is written in order, so a
            /// user's changes are bounded before they get there.
            case change
        }

        let parameters: [String]
        let access: Access
        let cost: Cost
        let answer: (ControlRequest) throws(VarlinkError) -> Void

        /// - Parameters:
        ///   - parameters: The names of the parameters. Any other name in a call is an error: otherwise a misspelt
        ///     parameter would silently have its default.
        ///   - cost: A user has only some calls of each cost but the small one at a time
        ///     (``ControlLimits/calls(costing:)``).
        ///   - answer: Answers the request, now or later, or throws the error to answer with.
        package init(
            _ parameters: [String], access: Access = .reading, cost: Cost = .small,
            answer: @escaping (ControlRequest) throws(VarlinkError) -> Void
        ) {
            self.parameters = parameters
            self.access = access
            self.cost = cost
            self.answer = answer
        }
    }

    package let name: String
    /// The definition in Varlink's language.
    package let definition: String
    package let methods: [String: Method]
}
