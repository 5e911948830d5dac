/// Why a link counts as metered.
public enum MeteredReason: String, Hashable, Sendable, CaseIterable {
    /// The configuration, or an option of the command, says so.
    case configuration
    /// A mobile connection carries it.
    case wwan
    /// The DHCP server says that it is an Android phone that shares its mobile connection.
    case androidHotspot = "android-hotspot"
    /// The network is the one that Apple's devices make when they share their mobile connection.
    case appleHotspot = "apple-hotspot"

    /// A sentence for people.
    package var sentence: String {
        switch self {
        case .configuration: "the configuration says that it is metered"
        case .wwan: "it is a mobile connection"
        case .androidHotspot: "it is the hotspot of an Android device"
        case .appleHotspot: "it looks like the hotspot of an Apple device"
        }
    }
}
