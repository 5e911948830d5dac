package import ReachCore

/// An event of a transfer. In order: `head`, then `body` and `progress` any number of times, and `finished` once and
/// last.
package indirect enum TransferEvent: Sendable {
    /// The head of the response that is not a followed redirect; informational heads (1xx) are left out.
    case head(ResponseHead)
    /// A piece of the body, where the sink is ``TransferSink/events``.
    case body([UInt8])
    /// At most ten times a second, and once before the end if anything has moved since.
    case progress(ByteProgress)
    case finished(TransferReport)
}

/// The callbacks of a transfer. They run on the engine's loop, never from within ``TransferEngine/start(_:handler:)``
/// or ``TransferEngine/cancel(_:)``, and may call both.
package struct TransferHandler {
    /// Decides about each redirect before it is followed; `false` fails the transfer with `redirect-refused`.
    package let allowsRedirect: (Redirect) -> Bool
    /// Called before each hop's request is sent: from then on it may have arrived.
    package let willSend: () -> Void
    package let event: (TransferEvent) -> Void
    /// Chooses by which interface each address is reached: the server's, or the proxy's. Called before each hop's first
    /// connection; `nil` sends all of them by ``TransferRequest/interface``.
    package let route: (([IPAddress]) -> [TransferWay])?
    /// Whether there is room for more pieces of the body. If not, the connection waits until
    /// ``TransferMaker/resume(_:)``. Called while bytes are read, so that it must not call the engine.
    package let hasRoom: () -> Bool

    package init(
        allowsRedirect: @escaping (Redirect) -> Bool = { _ in true }, willSend: @escaping () -> Void = {},
        route: (([IPAddress]) -> [TransferWay])? = nil, hasRoom: @escaping () -> Bool = { true },
        event: @escaping (TransferEvent) -> Void
    ) {
        self.allowsRedirect = allowsRedirect
        self.route = route
        self.hasRoom = hasRoom
        self.willSend = willSend
        self.event = event
    }
}

/// The number of a transfer; never used again in this process.
package struct TransferID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// An address that may be connected to, and by which interface.
package struct TransferWay: Hashable, Sendable {
    package let address: IPAddress
    /// `nil` leaves it to routing.
    package let interface: InterfaceBinding?

    package init(_ address: IPAddress, by interface: InterfaceBinding?) {
        self.address = address
        self.interface = interface
    }
}
