internal import CReachLinux
internal import Glibc
package import ReachCore
internal import ReachLoop

/// Reads the traits of a link that netlink does not report, from sysfs, ethtool and procfs.
///
/// Open and use it on a thread that is in the network namespace of the links: the ioctls use the namespace of the
/// thread that opened it, and everything else uses the namespace of the caller.
package struct LinkTraitsReader: ~Copyable {
    private let sysfs: String
    private let pppoeSessions: String
    private let socket: CInt

    /// - Parameters:
    ///   - sysfs: The directory where the kernel shows the interfaces; in a test, a directory that looks like it.
    ///   - pppoeSessions: The kernel's list of PPPoE sessions. `/proc/net` would show the main thread's namespace.
    package init(sysfs: String = "/sys/class/net", pppoeSessions: String = "/proc/thread-self/net/pppoe") {
        self.sysfs = sysfs
        self.pppoeSessions = pppoeSessions
        // Any socket accepts interface ioctls, and a unit's RestrictAddressFamilies= rarely excludes AF_UNIX.
        socket = Glibc.socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }

    deinit { if socket >= 0 { close(socket) } }

    /// The link's traits; empty where netlink already reports everything that the classifier needs.
    package func traits(of link: Link) -> LinkTraits {
        var traits = LinkTraits()
        if link.kind == "ppp" {
            let interfaces = pppoeInterfaces()
            traits.pppoeSessions = interfaces.count
            if Set(interfaces).count == 1 { traits.pppoeInterface = interfaces[0] }
        }
        guard LinkClassifier.kind(byNetlinkOf: link) == nil, let name = cName(of: link) else { return traits }
        if let directory = SysfsDirectory(path: (sysfs + "/").utf8.map(CChar.init(bitPattern:)) + name),
            let event = directory.text(of: "uevent"), shows(link, directory, event, name)
        {
            read(directory, event, name, into: &traits)
        } else {
            readByIoctl(name, into: &traits)
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
        // ethtool comes second, because the kernel answers it under the lock that every link change takes (RTNL).
        traits.driver = directory.target(of: "device/driver") ?? driver(of: name)?.name
    }

    private func value(of key: String, in event: Substring) -> String? {
        let line = event.split(scalar: "\n").first { $0.hasUTF8Prefix(key + "=") }
        return line.map { String($0.dropFirst(key.count + 1)) }
    }

    /// Whether the directory shows this link. Sysfs shows the namespace that mounted it, where another link may have
    /// the same name and even the same index.
    private func shows(
        _ link: Link, _ directory: borrowing SysfsDirectory, _ event: Substring, _ name: [CChar]
    ) -> Bool {
        guard value(of: "IFINDEX", in: event) == String(link.index), let text = directory.text(of: "address") else {
            return false
        }
        let address = text.split(scalar: ":").map { UInt8($0, radix: 16) ?? 0 }
        // Wi-Fi may change its address for every scan, so the notice may be out of date: compare with the current one.
        return address == link.hardwareAddress || isCurrentAddress(address, name)
    }

    // MARK: - Ioctls

    /// Reads what is available without sysfs.
    private func readByIoctl(_ name: [CChar], into traits: inout LinkTraits) {
        if let driver = driver(of: name) {
            traits.driver = driver.name
            traits.hasDevice = driver.hasDevice
        }
        traits.hasWirelessExtensions = reach_wireless_extensions(socket, name) == 0
    }

    private func driver(of name: [CChar]) -> (name: String, hasDevice: Bool)? {
        var driver = reach_driver()
        guard reach_ethtool_driver(socket, name, &driver) == 0 else { return nil }
        let bus = string(driver.bus_info)
        // Software drivers leave the bus position empty, or set it to "N/A".
        return (string(driver.name), !bus.isEmpty && bus != "N/A")
    }

    private func isCurrentAddress(_ address: [UInt8], _ name: [CChar]) -> Bool {
        var current = reach_hardware_address()
        guard reach_hardware_address(socket, name, &current) == 0 else { return false }
        return withUnsafeBytes(of: current.bytes) { address.starts(with: $0.prefix(address.count)) && !address.isEmpty }
    }

    // MARK: - PPPoE

    /// The interface of each PPPoE session. `pppoe_seq_show` in drivers/net/ppp/pppoe.c prints a heading, then a line
    /// for each session: its number, the remote address and the interface.
    private func pppoeInterfaces() -> [String] {
        guard let sessions = SmallFile.text(pppoeSessions)?.split(scalar: "\n").dropFirst() else { return [] }
        return sessions.compactMap { $0.split(scalar: " ").dropFirst(2).first.map(String.init) }
    }

    // MARK: - Names

    /// The name as a C string that is safe as part of a path, or `nil`.
    private func cName(of link: Link) -> [CChar]? {
        guard !link.name.isEmpty, link.name != ".", link.name != "..",
            !link.name.utf8.contains(where: { "/\0".utf8.contains($0) })
        else { return nil }
        guard link.name.unicodeScalars.contains("\u{FFFD}") else { return Array(link.name.utf8CString) }
        // The kernel accepts any bytes as a name, and a String cannot hold those that are not UTF-8.
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        return if_indextoname(UInt32(link.index), &name) == nil ? nil : Array(name.prefix { $0 != 0 }) + [0]
    }

    private func string<Characters>(_ characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// An open directory of sysfs, closed when the value goes away. It stays with its interface when that is renamed.
struct SysfsDirectory: ~Copyable {
    private let descriptor: CInt

    /// - Parameter path: A C string, since the name of an interface need not be UTF-8.
    init?(path: [CChar]) {
        let opened = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        descriptor = opened
    }

    deinit { close(descriptor) }

    func has(_ entry: String) -> Bool { faccessat(descriptor, entry, F_OK, 0) == 0 }

    /// The contents of the file, without the newline at the end.
    func text(of file: String) -> Substring? {
        SmallFile.text(file, in: descriptor).map { $0.hasUTF8Suffix("\n") ? $0.dropLast() : $0[...] }
    }

    /// The last component of the symbolic link's target.
    func target(of link: String) -> String? {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlinkat(descriptor, link, &path, path.count)
        guard count > 0 else { return nil }
        let name = path.prefix(count).split(separator: CChar(bitPattern: UInt8(ascii: "/"))).last ?? []
        return String(decoding: name.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// The traits of links, each read when it is first needed, and again once its link is another device.
struct DeviceTraits: ~Copyable {
    private let reader = LinkTraitsReader()
    private(set) var known: [InterfaceIndex: LinkTraits] = [:]

    /// Follows a link to its present state; `nil` once it was removed.
    mutating func follow(_ index: InterfaceIndex, from earlier: Link?, to link: Link?) {
        guard let earlier, link.map(earlier.isSameDevice) != true else { return }
        known[index] = nil
    }

    /// Follows all links to what they are by another table.
    mutating func follow(from earlier: [InterfaceIndex: Link], to links: [InterfaceIndex: Link]) {
        known = known.filter { index, _ in
            guard let link = links[index] else { return false }
            return earlier[index]?.isSameDevice(as: link) == true
        }
    }

    /// Reads the traits of those links whose traits are not known yet.
    ///
    /// - Returns: Whether there were any.
    mutating func read(_ members: some Sequence<InterfaceIndex>, among links: [InterfaceIndex: Link]) -> Bool {
        // A look for the key alone, since traits would be copied: each loss asks for those of all links.
        let unknown = members.filter { known.index(forKey: $0) == nil }.compactMap { links[$0] }
        for link in unknown { known[link.index] = reader.traits(of: link) }
        return !unknown.isEmpty
    }
}

extension Link {
    /// Whether traits that were read from sysfs still hold: a rename moves the link's directory, and a modem may change
    /// its hardware type.
    fileprivate func isSameDevice(as other: Link) -> Bool {
        name == other.name && kind == other.kind && hardwareType == other.hardwareType
    }
}
