internal import Glibc
package import ReachCore
internal import ReachLoop

/// Reads the files in which DHCP clients keep their leases: for the URI of a portal's API, and for what tells the hotspot of an
/// Android phone. Blocks on the disk.
package struct LeaseReader: Sendable {
    /// The directory that contains `run` and `var`; not `/` only in tests.
    let root: String

    /// More than the leases of any client; dhclient appends to its file.
    private static let limitBytes = 1 << 20

    /// The URI that the present lease of an interface announces; `nil` if there is none.
    func portal(of name: String, _ index: InterfaceIndex, addresses: Set<IPAddress>) -> String? {
        guard !name.unicodeScalars.contains("/"), name != ".", name != ".." else { return nil }
        if let uri = text("run/systemd/netif/links/\(index)").flatMap(LeasePortal.networkd) { return uri }
        if let uri = text("run/reach-portal/\(name)").flatMap(LeasePortal.hook) { return uri }
        for directory in ["var/lib/dhcpcd", "var/lib/dhcpcd5"] {
            for file in dhcpcdFiles(name, in: directory, ".lease") {
                if let uri = bytes(file).flatMap({ LeasePortal.dhcpcd($0, addresses: addresses) }) { return uri }
            }
            for file in dhcpcdFiles(name, in: directory, ".lease6") {
                if let uri = bytes(file).flatMap({ LeasePortal.dhcpcd6($0, addresses: addresses) }) { return uri }
            }
        }
        for file in dhclientFiles(name) {
            let uri = text(file).flatMap { LeasePortal.dhclient($0, interface: name, addresses: addresses) }
            if let uri { return uri }
        }
        return nil
    }

    /// Whether the DHCP server of the present lease is an Android phone that shares its mobile connection; `nil` if no lease is found.
    package func isAndroidHotspot(_ question: LeaseQuestion) -> Bool? {
        let (name, addresses) = (question.name, question.addresses)
        guard !name.unicodeScalars.contains("/"), name != ".", name != ".." else { return nil }
        var answers: [Bool?] = [
            text("run/systemd/netif/leases/\(question.interface)").flatMap {
                LeaseHotspot.networkd($0, addresses: addresses)
            },
            bytes("run/reach-portal/\(name).vendor").map(LeaseHotspot.hook),
        ]
        for directory in ["var/lib/dhcpcd", "var/lib/dhcpcd5"] {
            answers += dhcpcdFiles(name, in: directory, ".lease").map { file in
                bytes(file).flatMap { LeaseHotspot.dhcpcd($0, addresses: addresses) }
            }
        }
        answers += dhclientFiles(name).map { file in
            text(file).flatMap { LeaseHotspot.dhclient($0, interface: name, addresses: addresses) }
        }
        let found = answers.compactMap(\.self)
        return found.isEmpty ? nil : found.contains(true)
    }

    /// Of Wi-Fi dhcpcd keeps a lease for each network, `wlan0-SSID.lease`. Their addresses say which is the present one.
    private func dhcpcdFiles(_ name: String, in directory: String, _ suffix: String) -> [String] {
        let names = (try? DirectoryNames.read(root + directory)) ?? []
        return names.filter { $0 == name + suffix || ($0.hasUTF8Prefix(name + "-") && $0.hasUTF8Suffix(suffix)) }
            .sorted()
            .prefix(64).map { "\(directory)/\($0)" }
    }

    private func dhclientFiles(_ name: String) -> [String] {
        let directory = "var/lib/NetworkManager"
        let names = (try? DirectoryNames.read(root + directory)) ?? []
        return [
            "var/lib/dhcp/dhclient.\(name).leases", "var/lib/dhcp/dhclient.leases",
            "var/lib/dhcp/dhclient6.\(name).leases",
        ]
            + names.filter { $0.hasUTF8Prefix("dhclient") && $0.hasUTF8Suffix("-\(name).lease") }.map {
                "\(directory)/\($0)"
            }
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

/// A question about the lease of one interface.
package struct LeaseQuestion: Hashable, Sendable {
    package let interface: InterfaceIndex
    let name: String
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
