internal import Glibc
internal import ReachCore
internal import ReachLoop

/// Whether a link is meant to be up: somebody has set it up, or systemd-networkd is about to.
struct LinkExpectation: Equatable {
    /// What systemd-networkd says of a link; `nil` where it does not manage it.
    var networkd: NetworkdLink?
    /// Whether its radio is switched off, so that nothing can set it up.
    var isRadioOff = false

    func isMet(by report: LinkReport) -> Bool {
        guard Self.canBeUplink(report), !isRadioOff else { return false }
        guard let networkd else { return report.link.isUp }
        guard networkd.isRequired else { return false }
        return networkd.isBroughtUp || report.link.isUp
    }

    /// Whether it can lead out of this machine by itself: no tunnel, which another link carries, no port, for which its
    /// controller stands, and none of the links that software makes without another end.
    private static func canBeUplink(_ report: LinkReport) -> Bool {
        guard report.controller == nil else { return false }
        return switch report.linkClass {
        case .wired, .wifi, .wwan, .bluetooth, .other: true
        case .virtual: ["veth", "macvlan", "ipvlan"].contains(report.link.kind ?? "")
        case .tunnel, .loopback: false
        }
    }
}

/// A file of `/run/systemd/netif/links`, as sd-network(3) reads it.
struct NetworkdLink: Equatable {
    /// `RequiredForOnline=` of systemd.network(5).
    let isRequired: Bool
    /// Whether systemd-networkd sets the link up, or has.
    let isBroughtUp: Bool

    /// - Returns: `nil` for a link that systemd-networkd does not manage.
    init?(_ text: String) {
        var values: [Substring: Substring] = [:]
        for line in text.split(scalar: "\n") {
            let parts = line.split(scalar: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { values[parts[0]] = parts[1] }
        }
        guard let state = values["ADMIN_STATE"], state != "unmanaged" else { return nil }
        isRequired = values["REQUIRED_FOR_ONLINE"] != "no"
        let isGivenUp = state == "failed" || state == "linger"
        let leavesItDown = ["manual", "down", "always-down"].contains(values["ACTIVATION_POLICY"] ?? "up")
        isBroughtUp = !isGivenUp && !leavesItDown
    }
}

extension LinkExpectation {
    /// Reads what this machine says of a link.
    init(of link: Link) {
        // The files are those of the machine's own namespace. Others than root cannot see which that is.
        var first = stat()
        if stat("/proc/1/ns/net", &first) != 0 || UInt64(first.st_ino) == NetworkNamespace.inode {
            networkd = SmallFile.text("/run/systemd/netif/links/\(link.index)", limit: 64 << 10).flatMap(
                NetworkdLink.init)
        }
        let radio = "/sys/class/net/\(link.name)/phy80211"
        let switches = ((try? DirectoryNames.read(radio)) ?? []).filter { $0.hasUTF8Prefix("rfkill") }
        isRadioOff = switches.contains { name in
            ["soft", "hard"].contains { SmallFile.words("\(radio)/\(name)/\($0)") == ["1"] }
        }
    }
}
