internal import CReachLinux
internal import Glibc
package import ReachCore

/// Asks sysfs, ethtool and procfs what netlink does not tell of a link.
///
/// Open and use it on a thread that is in the network namespace of the links: the ioctls go to that of the thread
/// which opened it, the rest to that of the caller.
package struct LinkTraitsReader: ~Copyable {
    private let sysfs: String
    private let pppoeSessions: String
    private let socket: CInt

    /// - Parameters:
    ///   - sysfs: Where the kernel shows the interfaces; in a test, a directory that looks like it.
    ///   - pppoeSessions: The kernel's list of them. `/proc/net` would be the main thread's namespace.
    package init(sysfs: String = "/sys/class/net", pppoeSessions: String = "/proc/thread-self/net/pppoe") {
        self.sysfs = sysfs
        self.pppoeSessions = pppoeSessions
        // Interface ioctls are the same on any socket, and a unit's RestrictAddressFamilies= hardly leaves AF_UNIX out.
        socket = Glibc.socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }

    deinit { if socket >= 0 { close(socket) } }

    /// What is known of the link beyond netlink: nothing, where netlink says all that the classifier wants.
    package func traits(of link: Link) -> LinkTraits {
        var traits = LinkTraits()
        if link.kind == "ppp" { traits.pppoeInterface = pppoeInterface() }
        guard LinkClassifier.kind(byNetlinkOf: link) == nil, let name = cName(of: link) else { return traits }
        if let directory = SysfsDirectory(path: (sysfs + "/").utf8.map(CChar.init(bitPattern:)) + name),
            let event = directory.text(of: "uevent"), isOf(link, directory, event, name)
        {
            read(directory, event, name, into: &traits)
        } else {
            ask(name, into: &traits)
        }
        return traits
    }

    // MARK: - Sysfs

    private func read(
        _ directory: borrowing SysfsDirectory, _ event: Substring, _ name: [CChar], into traits: inout LinkTraits
    ) {
        traits.deviceType = value(of: "DEVTYPE", in: event)
        traits.hasPHY80211 = directory.has("phy80211")
        traits.hasWirelessExtensions = directory.has("wireless")
        traits.hasDevice = directory.has("device")
        // Asked second, because the kernel answers ethtool under the lock that every change of a link takes.
        traits.driver = directory.target(of: "device/driver") ?? driver(of: name)?.name
    }

    private func value(of key: String, in event: Substring) -> String? {
        let line = event.split(separator: "\n").first { $0.hasPrefix(key + "=") }
        return line.map { String($0.dropFirst(key.count + 1)) }
    }

    /// Sysfs shows the namespace that mounted it, where the name may be another link's, even with the same index.
    private func isOf(
        _ link: Link, _ directory: borrowing SysfsDirectory, _ event: Substring, _ name: [CChar]
    ) -> Bool {
        guard value(of: "IFINDEX", in: event) == String(link.index), let text = directory.text(of: "address") else {
            return false
        }
        let address = text.split(separator: ":").map { UInt8($0, radix: 16) ?? 0 }
        // Wi-Fi changes its address for every scan, maybe since the notice: then the kernel's word of now counts.
        return address == link.hardwareAddress || isAddressNow(address, name)
    }

    // MARK: - Ioctls

    /// What can be known without sysfs.
    private func ask(_ name: [CChar], into traits: inout LinkTraits) {
        if let driver = driver(of: name) {
            traits.driver = driver.name
            traits.hasDevice = driver.hasDevice
        }
        traits.hasWirelessExtensions = reach_wireless_extensions(socket, name) == 0
    }

    private func driver(of name: [CChar]) -> (name: String, hasDevice: Bool)? {
        var driver = reach_driver()
        guard reach_ethtool_driver(socket, name, &driver) == 0 else { return nil }
        let place = string(driver.bus_info)
        // Software drivers leave the place empty, or say that there is none.
        return (string(driver.name), !place.isEmpty && place != "N/A")
    }

    private func isAddressNow(_ address: [UInt8], _ name: [CChar]) -> Bool {
        var now = reach_hardware_address()
        guard reach_hardware_address(socket, name, &now) == 0 else { return false }
        return withUnsafeBytes(of: now.bytes) { address.starts(with: $0.prefix(address.count)) && !address.isEmpty }
    }

    // MARK: - PPPoE

    /// The interface of all PPPoE sessions, if it is the same for all: pppoe_seq_show in drivers/net/ppp/pppoe.c
    /// prints a line of headings, then for each session its number, the far end's address and the interface.
    private func pppoeInterface() -> String? {
        guard let sessions = readText(at: pppoeSessions)?.split(separator: "\n").dropFirst() else { return nil }
        let interfaces = Set(sessions.compactMap { $0.split(separator: " ").dropFirst(2).first })
        return interfaces.count == 1 ? interfaces.first.map(String.init) : nil
    }

    // MARK: - Names

    /// The name as characters of C that may stand in a path, or `nil`.
    private func cName(of link: Link) -> [CChar]? {
        guard !link.name.isEmpty, link.name != ".", link.name != "..",
            !link.name.utf8.contains(where: { "/\0".utf8.contains($0) })
        else { return nil }
        guard link.name.unicodeScalars.contains("\u{FFFD}") else { return Array(link.name.utf8CString) }
        // The kernel takes any bytes, and a String cannot hold those that are not UTF-8.
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        return if_indextoname(UInt32(link.index), &name) == nil ? nil : Array(name.prefix { $0 != 0 }) + [0]
    }

    private func string<Characters>(_ characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
