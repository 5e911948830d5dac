package import ReachCore
internal import ReachLoop

/// Reads what switches off a radio, or IPv6 on a link. Netlink does not report either. Nothing here is read while a
/// target is reachable.
package struct RadioReader {
    private let sysfs: String
    private let settings: String

    /// - Parameters:
    ///   - sysfs: Where the kernel shows devices; in a test, a directory that looks like it.
    ///   - settings: The kernel's settings of IPv6, which procfs shows for the namespace of the calling thread.
    package init(sysfs: String = "/sys", settings: String = "/proc/sys/net/ipv6/conf") {
        self.sysfs = sysfs
        self.settings = settings
    }

    /// What switches the radio of a link off (rfkill); `nil` if nothing does, and where the kernel does not say.
    ///
    /// Wi-Fi has a switch for each device. Of other radios, and of Wi-Fi without one, the machine's switches for all of
    /// the kind count.
    package func block(of link: Link, _ linkClass: LinkClass) -> RootCauseFinder.Radio? {
        let type: String
        switch linkClass {
        case .wifi: type = "wlan"
        case .wwan: type = "wwan"
        case .bluetooth: type = "bluetooth"
        default: return nil
        }
        let switches = ((try? DirectoryNames.read(sysfs + "/class/rfkill")) ?? []).map {
            Switch(sysfs + "/class/rfkill/" + $0)
        }
        .filter { $0.type == type }
        let device = device(of: link)
        let ofDevice = switches.filter { $0.name != nil && $0.name == device }
        let counting = ofDevice.isEmpty ? switches : ofDevice
        if counting.contains(where: \.isHard) { return .blockedByHardware }
        return counting.contains(where: \.isSoft) ? .blockedBySoftware : nil
    }

    /// Whether a setting disables IPv6 on a link. The kernel also does it by itself, where the MTU is below 1280.
    package func disablesIPv6(on link: Link) -> Bool {
        guard !link.name.unicodeScalars.contains("/") else { return false }
        if let setting = SmallFile.words("\(settings)/\(link.name)/disable_ipv6").first { return setting != "0" }
        // The link has no settings of IPv6, though others have.
        return !SmallFile.words(settings + "/all/disable_ipv6").isEmpty
    }

    private struct Switch {
        let type: String?
        let name: String?
        let isSoft: Bool
        let isHard: Bool

        init(_ path: String) {
            let word = { (file: String) in SmallFile.words(path + "/" + file).first.map(String.init) }
            type = word("type")
            name = word("name")
            isSoft = word("soft") == "1"
            isHard = word("hard") == "1"
        }
    }

    /// The name of the Wi-Fi device behind the link, after which its switch is named.
    private func device(of link: Link) -> String? {
        guard !link.name.unicodeScalars.contains("/") else { return nil }
        return SmallFile.words("\(sysfs)/class/net/\(link.name)/phy80211/name").first.map(String.init)
    }
}
