package import ReachCore

/// What a ``ValidationMachine`` wants done. Each but the last is answered under its ticket, or cancelled before.
package enum ValidationCommand: Hashable, Sendable {
    package typealias Ticket = UInt64

    /// Look whether a socket on the path has received something within the window: no packet is sent.
    case look(Uplink, within: Duration, Ticket)
    /// Ask the endpoints by this path.
    case probe(Uplink, Ticket)
    /// What was begun under the ticket is of no use any more.
    case cancel(Ticket)
}
