/// The segments that a socket has sent since it was made.
package struct SegmentCount: Hashable, Sendable {
    package struct Socket: Hashable, Sendable {
        let remote: TrafficQuestion.Remote
        let localPort: UInt16

        package init(remote: TrafficQuestion.Remote, localPort: UInt16) {
            self.remote = remote
            self.localPort = localPort
        }
    }

    package let socket: Socket
    /// Segments with data, each as often as it was sent.
    package let sent: UInt32
    /// Those that were sent again.
    package let repeated: UInt32
    /// The smoothed round-trip time that the kernel measured; zero if it has measured none.
    package let roundTrip: Duration

    package init(_ socket: Socket, sent: UInt32 = 0, repeated: UInt32 = 0, roundTrip: Duration = .zero) {
        self.socket = socket
        self.roundTrip = roundTrip
        self.sent = sent
        self.repeated = repeated
    }

    /// The most sockets that are counted: on a machine with more, these stand for the others.
    package static let socketLimit = 2000
}
