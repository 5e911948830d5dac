internal import CReachLinux
internal import Glibc
package import ReachCore
internal import ReachLoop

/// Reads the files in which DHCP clients keep their leases: for the URI of a portal's API, and for what tells the
/// hotspot of an Android phone. Blocks on the disk.
package struct LeaseReader: Sendable {
    /// The directory that contains `run` and `var`; not `/` only in tests.
    let root: String

    /// More than the leases of any client; dhclient appends to its file.
    private static let limitBytes = 1 << 20

    /// The URI that the present lease of an interface announces; `nil` if there is none.
    func portal(of name: String, _ index: InterfaceIndex, addresses: Set<IPAddress>) -> String? {
        guard !name.unicodeScalars.contains("/") else { return nil }
        if let uri = text("run/systemd/netif/links/\(index)").flatMap(LeasePortal.networkd) { return uri }
        if let uri = text("run/reach-portal/\(name)").flatMap(LeasePortal.hook) { return uri }
        for file in dhcpcdFiles(name, ".lease") {
            if let uri = bytes(file).flatMap({ LeasePortal.dhcpcd($0, addresses: addresses) }) { return uri }
        }
        for file in dhcpcdFiles(name, ".lease6") {
            if let uri = bytes(file).flatMap({ LeasePortal.dhcpcd6($0, addresses: addresses) }) { return uri }
        }
        for file in dhclientFiles(name) {
            let uri = text(file).flatMap { LeasePortal.dhclient($0, interface: name, addresses: addresses) }
            if let uri { return uri }
        }
        return nil
    }

    /// Whether the DHCP server of the present lease is an Android phone that shares its mobile connection; `nil` if no
    /// lease is found.
    package func isAndroidHotspot(_ question: LeaseQuestion) -> Bool? {
        let (name, addresses) = (question.name, question.addresses)
        guard !name.unicodeScalars.contains("/") else { return nil }
        var answers: [Bool?] = [
            text("run/systemd/netif/leases/\(question.interface)").flatMap {
                LeaseHotspot.networkd($0, addresses: addresses)
            },
            bytes("run/reach-portal/\(name).vendor").map(LeaseHotspot.hook),
        ]
        answers += dhcpcdFiles(name, ".lease").map { file in
            bytes(file).flatMap { LeaseHotspot.dhcpcd($0, addresses: addresses) }
        }
        answers += dhclientFiles(name).map { file in
            text(file).flatMap { LeaseHotspot.dhclient($0, interface: name, addresses: addresses) }
        }
        answers.append(networkManager(name, question.interface))
        let found = answers.compactMap(\.self)
        return found.isEmpty ? nil : found.contains(true)
    }

    /// NetworkManager's own DHCP client stores the address alone, so NetworkManager is asked on the bus, where it
    /// manages the link.
    private func networkManager(_ name: String, _ index: InterfaceIndex) -> Bool? {
        guard text("run/NetworkManager/devices/\(index)")?.hasNetworkManagerLease == true else { return nil }
        return LeaseHotspot.networkManager(reach_networkmanager_metered(name, Self.busPatienceMicroseconds))
    }

    private static let busPatienceMicroseconds: UInt64 = 250_000

    /// The URL of a file with a proxy's configuration (PAC) that the DHCP server of the present lease names. It is a
    /// program, which anybody on the link may name: it is shown, and never fetched.
    package func proxyFile(_ question: LeaseQuestion) -> String? {
        let (name, addresses) = (question.name, question.addresses)
        let networkd = text("run/systemd/netif/leases/\(question.interface)").flatMap {
            LeasePortal.proxyFile(networkd: $0, addresses: addresses)
        }
        if let networkd { return networkd }
        for file in dhcpcdFiles(name, ".lease") {
            if let url = bytes(file).flatMap({ LeasePortal.proxyFile(dhcpcd: $0, addresses: addresses) }) { return url }
        }
        for file in dhclientFiles(name) {
            let url = text(file).flatMap { LeasePortal.proxyFile(dhclient: $0, interface: name, addresses: addresses) }
            if let url { return url }
        }
        return nil
    }

    /// Of Wi-Fi dhcpcd keeps a lease for each network, `wlan0-SSID.lease`. Their addresses say which is the present
    /// one. Before version 7 the names begin with `dhcpcd-`. Versions that separate privileges see `/var/lib/dhcpcd`
    /// below their own root.
    private func dhcpcdFiles(_ name: String, _ suffix: String) -> [String] {
        ["var/lib/dhcpcd", "var/lib/dhcpcd5", "var/db/dhcpcd", "var/lib/dhcpcd/var/lib/dhcpcd"].flatMap { directory in
            files(in: directory) { file in
                let rest = file.after("dhcpcd-") ?? file[...]
                return rest.before(suffix).map { $0 == name || rest.hasUTF8Prefix(name + "-") } ?? false
            }
        }
    }

    /// Where dhclient keeps its leases: Debian in `/var/lib/dhcp`, Fedora, RHEL and Arch in `/var/lib/dhclient`, SUSE
    /// in `/var/lib/dhcp` or `/var/lib/dhcp6`, and NetworkManager's plugin in its own directory, or by an older version
    /// in `/var/run`. The names vary with who starts it (`dhclient.leases`, `dhclient--eth0.lease`,
    /// `dhclient-UUID-eth0.lease`, `dhclient6.eth0.leases`), so any file counts that may be about the interface. The
    /// lease itself names the interface and the address.
    private func dhclientFiles(_ name: String) -> [String] {
        [
            "var/lib/dhcp", "var/lib/dhcp3", "var/lib/dhcp6", "var/lib/dhclient", "var/db", "var/lib/NetworkManager",
            "run/NetworkManager", "run/NetworkManager/dhcp", "run",
        ].flatMap { directory in
            files(in: directory) { file in
                guard file.hasUTF8Prefix("dhclient") else { return false }
                let stem =
                    file.hasUTF8Suffix(".leases")
                    ? file.dropLast(7) : file.hasUTF8Suffix(".lease") ? file.dropLast(6) : ""
                return ["dhclient", "dhclient6"].contains(stem) || stem.hasUTF8Suffix("-" + name)
                    || stem.hasUTF8Suffix("." + name)
            }
        }
    }

    /// The paths of the files of a directory whose names are wanted. The least of 64 by name are read: more would be no
    /// leases.
    private func files(in directory: String, where isWanted: (String) -> Bool) -> [String] {
        let names = (try? DirectoryNames.read(root + directory)) ?? []
        return names.filter(isWanted).sorted().prefix(64).map { "\(directory)/\($0)" }
    }

    private func text(_ path: String) -> String? { bytes(path).map { String(decoding: $0, as: UTF8.self) } }

    /// The contents of a file that only its owner can change. The owner is the client's user, which differs.
    private func bytes(_ path: String) -> [UInt8]? {
        // O_NONBLOCK, so that no FIFO makes the caller wait.
        let file = open(root + path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard file >= 0 else { return nil }
        let owner = FileDescriptor(owning: file)
        var status = stat()
        guard fstat(owner.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o022 == 0,
            status.st_size <= Self.limitBytes
        else { return nil }
        var contents = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = contents.withUnsafeMutableBytes { read(owner.rawValue, $0.baseAddress, $0.count) }
        return count < 0 ? nil : Array(contents.prefix(count))
    }
}

extension String {
    /// Whether a file of NetworkManager about a link says that it manages the link, and that the link has a lease.
    fileprivate var hasNetworkManagerLease: Bool {
        let lines = split(scalar: "\n")
        return lines.contains("managed=true") && lines.contains { $0.hasUTF8Prefix("dhcp4.ip_address=") }
    }
}

/// What the daemon wants to know of a lease; `nil` where none was found.
package struct LeaseAnswer: ExpressibleByNilLiteral, Sendable {
    package var isHotspot: Bool?
    package var proxyFile: String?

    package init(nilLiteral: ()) {}

    package init(_ question: LeaseQuestion, by reader: LeaseReader) {
        isHotspot = reader.isAndroidHotspot(question)
        proxyFile = reader.proxyFile(question)
    }
}

/// A question about the lease of one interface.
package struct LeaseQuestion: Hashable, Sendable {
    package let interface: InterfaceIndex
    package let name: String
    let gateways: Set<IPAddress>
    package let addresses: Set<IPAddress>
    /// Whether an address of IPv4 has a lifetime, as those of a DHCP server have.
    package var hasLifetime = false

    /// One question for each interface of these routes.
    static func questions(for routes: [DefaultRoute]) -> [LeaseQuestion] {
        Dictionary(grouping: routes, by: \.key.interface).values.map { routes in
            let addresses = routes.flatMap(\.addresses)
            var question = LeaseQuestion(
                interface: routes[0].key.interface, name: routes[0].name,
                gateways: Set(routes.compactMap(\.gateway)),
                addresses: Set(addresses.map(\.address) + routes.compactMap(\.source)))
            question.hasLifetime = addresses.contains { $0.address.family == .ipv4 && !$0.flags.contains(.permanent) }
            return question
        }
    }
}
