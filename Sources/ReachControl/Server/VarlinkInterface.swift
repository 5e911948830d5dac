/// An interface of the service: its definition, and what answers its methods.
package struct VarlinkInterface {
    package struct Method {
        package enum Access: Sendable {
            /// For everybody.
            case reading
            /// For those who may change something.
            case changing
        }

        package enum Cost: Sendable {
            /// Nothing but its turn on the loop's thread.
            case small
            /// Time on other threads, or memory, that users would take from one another. Such a method only reads: a call
            /// that wants no answer is over at once.
            case large
        }

        let parameters: [String]
        let access: Access
        let cost: Cost
        let answer: (ControlRequest) throws(VarlinkError) -> Void

        /// - Parameters:
        ///   - parameters: The names it knows; another is an error, since a misspelt one would otherwise be the default.
        ///   - cost: Of those with a large one a user has a few at a time (``ControlLimits/costlyCallsPerUser``).
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
    /// In Varlink's definition language.
    package let definition: String
    package let methods: [String: Method]

    package init(name: String, definition: String, methods: [String: Method]) {
        self.name = name
        self.definition = definition
        self.methods = methods
    }
}

/// What a service tells of itself.
package struct ServiceInformation: Hashable, Sendable {
    package var vendor: String
    package var product: String
    package var version: String
    package var url: String

    package init(vendor: String, product: String, version: String, url: String) {
        self.vendor = vendor
        self.product = product
        self.version = version
        self.url = url
    }
}
