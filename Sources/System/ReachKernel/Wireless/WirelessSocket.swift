internal import CNetlink
internal import ReachCore

/// The socket that receives what happens to the connections of Wi-Fi links. Confined to one thread.
final class WirelessSocket {
    private var socket: NetlinkSocket
    private let buffer = DatagramBuffer()

    /// Subscribes to connections that are made, moved and ended. The group has a message for each frame of each
    /// handshake, and the kernel drops those before they wake this process.
    init(_ family: WirelessFamily) throws(NetlinkError) {
        socket = try NetlinkSocket.open(NETLINK_GENERIC, receiveBufferBytes: 1 << 18)
        try socket.setNonblocking()
        try socket.attach(filter: SocketFilter.wireless)
        try socket.join([family.group])
    }

    var descriptor: CInt { socket.descriptor }

    /// Reads the queued notices.
    ///
    /// - Throws: ``NetlinkError/lost`` when the queue overflowed.
    func read() throws(NetlinkError) -> [WirelessNotice] {
        var notices: [WirelessNotice] = []
        while true {
            let count = try socket.receive(into: buffer) { notices += WirelessParser.notices(in: $0) }
            if count < buffer.slotCount { return notices }
        }
    }
}
