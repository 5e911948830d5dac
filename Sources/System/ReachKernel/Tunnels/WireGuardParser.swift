internal import CNetlink
internal import ReachCore

/// Parses the answers to WG_CMD_GET_DEVICE (linux/wireguard.h).
enum WireGuardParser {
    static let getDevice: UInt8 = 0
    static let interfaceIndex: UInt32 = 1

    /// - Returns: The device with those of its peers that the message has; `nil` for any other message.
    static func part(_ message: Message, family: Int) -> WireGuardDevice? {
        guard Int(message.type) == family, let (_, attributes) = message.body(genlmsghdr.self) else { return nil }
        return device(attributes)
    }

    private static func device(_ attributes: Attributes) -> WireGuardDevice {
        var device = WireGuardDevice()
        device.mark = attributes.first { $0.type == 7 }?.uint32.flatMap { $0 == 0 ? nil : $0 }
        device.peers = attributes.first { $0.type == 8 }?.nested.map { peer($0.nested) } ?? []
        return device
    }

    private static func peer(_ attributes: Attributes) -> WireGuardDevice.Peer {
        var peer = WireGuardDevice.Peer()
        for attribute in attributes {
            switch attribute.type {
            case 4: peer.endpoint = endpoint(attribute.payload)
            case 6:
                let seconds = attribute.structure(Int64.self) ?? 0
                peer.lastHandshake = seconds == 0 ? nil : seconds
            case 9:
                for allowed in attribute.nested {
                    for part in allowed.nested where part.type == 3 {
                        if let length = part.uint8, length <= 1 { peer.takesAll = true }
                    }
                }
            default: break
            }
        }
        return peer
    }

    /// The address of a `sockaddr_in` or `sockaddr_in6`.
    private static func endpoint(_ payload: UnsafeRawBufferPointer) -> IPAddress? {
        switch payload.count {
        case 16: IPAddress(UnsafeRawBufferPointer(rebasing: payload[4..<8]))
        case 28: IPAddress(UnsafeRawBufferPointer(rebasing: payload[8..<24]))
        default: nil
        }
    }
}
