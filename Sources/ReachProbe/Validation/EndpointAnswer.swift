package import ReachCore

/// What came of asking one endpoint once.
package enum EndpointAnswer: Hashable, Sendable {
    /// An answer by HTTP, whoever gave it; over TLS only where the certificate was right.
    case response(EndpointResponse)
    /// The name has such an address, which a name in the public DNS cannot have. Nothing was sent there.
    case privateAddress(IPAddress)
    /// There was none.
    case failure(EndpointFailure)
}

/// The parts of an answer by HTTP that matter.
package struct EndpointResponse: Hashable, Sendable {
    package var status: Int
    package var headers: [Header]
    /// Its beginning: ``bodyLimitBytes`` are asked for, and what follows is not read.
    package var body: [UInt8]

    package struct Header: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// So much of a body is read. NetworkManager and Android read up to 100 KiB to tell a portal; whether a body is the
    /// expected one, or hardly there at all, shows at its beginning.
    package static let bodyLimitBytes = 4096
    /// A body of so many bytes is none: some servers end an empty page with a line (Android's limit).
    package static let emptyBodyBytes = 4

    package init(status: Int, headers: [Header] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The value of the first header of this name, letter case aside.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// Why an endpoint gave no answer, in the order in which attempts get further.
package enum EndpointFailure: String, Hashable, Sendable, CaseIterable {
    /// The attempt could not be made, for a reason on this machine: it proves nothing.
    case local
    /// The name could not be resolved: servers silent or failing, or no such name.
    case nameNotResolved = "name-not-resolved"
    /// The connection was not made in time, or an error came back from the way.
    case notConnected = "not-connected"
    /// The host refused the connection, so it was reached, or somebody answers in its place.
    case refused
    /// The connection was cut, or nothing more came.
    case noAnswer = "no-answer"
    /// What came is no HTTP.
    case garbage
    /// The certificate's dates do not fit this machine's clock. Which of the two is wrong is not known.
    case certificateDate = "certificate-date"
    /// TLS failed otherwise: somebody else's certificate, or somebody who does not speak it.
    case certificate
}
