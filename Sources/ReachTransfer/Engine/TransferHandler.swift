/// What happens to a transfer, in order: `head`, `body` and `progress` any number of times, `finished` once and last.
package indirect enum TransferEvent: Sendable {
    /// The head of the response that is not a redirect to follow; informational ones (1xx) are left out.
    case head(ResponseHead)
    /// A piece of the body, where the sink is ``TransferSink/events``.
    case body([UInt8])
    /// At most ten times a second, and once before the end if anything moved since.
    case progress(TransferProgress)
    case finished(TransferReport)
}

/// Who is told about a transfer. Called on the engine's loop, never from within ``TransferEngine/start(_:handler:)`` or
/// ``TransferEngine/cancel(_:)``, and free to call both.
package struct TransferHandler {
    /// Asked about each redirect before it is followed; `false` fails the transfer with `redirect-refused`.
    package let allowsRedirect: (Redirect) -> Bool
    /// Told as each hop's request begins to be sent: from now on it may have arrived.
    package let willSend: () -> Void
    package let event: (TransferEvent) -> Void

    package init(
        allowsRedirect: @escaping (Redirect) -> Bool = { _ in true }, willSend: @escaping () -> Void = {},
        event: @escaping (TransferEvent) -> Void
    ) {
        self.allowsRedirect = allowsRedirect
        self.willSend = willSend
        self.event = event
    }
}

/// The number of a transfer; never used again in this process.
package struct TransferID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}
