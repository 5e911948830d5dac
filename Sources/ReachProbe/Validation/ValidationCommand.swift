package import ReachCore

/// A command of a ``ValidationMachine``. Each one with a ticket of its own is answered under that ticket, or cancelled.
package enum ValidationCommand: Hashable, Sendable {
    package typealias Ticket = UInt64

    /// Find out whether a socket on the path received data within the window. No packet is sent.
    case sampleTraffic(Uplink, within: Duration, Ticket)
    /// Check the path: send requests to the endpoints.
    case probe(Uplink, Ticket)
    /// Abandon the command with this ticket.
    case cancel(Ticket)
}
