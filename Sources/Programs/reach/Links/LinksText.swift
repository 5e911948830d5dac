internal import ReachCore
internal import ReachTerminal

/// Links in a table, for people.
struct LinksText {
    let style: TerminalStyle
    /// The terminal's width in columns; `nil` without a terminal.
    let width: Int?

    /// The most names of lower links that are shown; a bridge may have hundreds.
    private static let namesShown = 3

    func describe(_ reports: [LinkReport], leftOut: Int) -> String {
        let hasProofs = reports.contains { $0.proof != nil }
        let hasCosts = reports.contains { $0.isMetered && $0.traffic != nil }
        let hasNetworks = reports.contains { !network($0).allSatisfy(\.isEmpty) }
        let heading =
            ["NAME", "CLASS", "STATE", "INTERNET"] + (hasProofs ? ["PROVED"] : []) + (hasCosts ? ["BYTES"] : [])
            + (hasNetworks ? ["NETWORK"] : []) + ["OVER", "ADDRESSES"]
        let rows = reports.map {
            row($0, hasProofs: hasProofs, hasCosts: hasCosts, hasNetworks: hasNetworks)
        }
        let table = TextTable(style: style, width: width).layOut([heading.map { TextTable.Cell($0, .grey) }] + rows)
        guard leftOut > 0 else { return table }
        return table + style.paint("(\(leftOut) more with --all)", .grey) + "\n"
    }

    private func row(_ report: LinkReport, hasProofs: Bool, hasCosts: Bool, hasNetworks: Bool) -> [TextTable.Cell] {
        var first = [
            TextTable.Cell(DisplayText.sanitized(report.link.name), .bold),
            TextTable.Cell(report.linkClass.rawValue + (report.isMetered ? ", metered" : "")),
            state(report),
            TextTable.Cell(report.carriesInternet.map(\.title).sorted().joined(separator: " "), .green),
        ]
        let last = [
            TextTable.Cell(below(report)),
            TextTable.Cell(report.addresses.map(address)),
        ]
        if hasProofs { first.append(report.proof.map(Self.cell) ?? TextTable.Cell("")) }
        if hasCosts { first.append(TextTable.Cell(report.isMetered ? report.traffic.map(\.words) ?? "" : "")) }
        return first + (hasNetworks ? [TextTable.Cell(network(report).map { ($0, nil) })] : []) + last
    }

    /// What checks have proved of the Internet over the link, and how quickly it answers.
    private static func cell(_ proof: LinkReport.Proof) -> TextTable.Cell {
        TextTable.Cell(proof.words, proof.connectivity.colour)
    }

    /// The network's name, and below it what its access point calls itself, how it is protected, and how well it is
    /// received.
    private func network(_ report: LinkReport) -> [String] {
        let named = report.network.flatMap { NetworkRule.isIdentifier($0) ? nil : $0 }
        let name = named.map { DisplayText.sanitized($0) + (report.isTrusted ? ", trusted" : "") }
        guard let link = report.wireless else { return [name ?? ""] }
        let ssid = link.network.ssid.map { "'\(DisplayText.sanitized($0.description))'" }
        let rate = link.sendRate.map { "\(($0 + 500) / 1000) Mbit/s" }
        let details = [ssid, link.security?.rawValue, link.signal.map { "\($0) dBm" }, rate].compactMap { $0 }
        return [name, details.joined(separator: " ")].compactMap { $0 }
    }

    private func state(_ report: LinkReport) -> TextTable.Cell {
        guard let trouble = report.trouble else { return TextTable.Cell("up", .green) }
        // A link that was not brought up is not a fault.
        guard report.link.isUp else { return TextTable.Cell("down", .grey) }
        let culprit = report.brokenLower.map { ": " + DisplayText.sanitized($0) } ?? ""
        return TextTable.Cell((trouble.row.short ?? trouble.rawValue) + culprit, .red)
    }

    private func below(_ report: LinkReport) -> String {
        let names = report.lower.map(DisplayText.sanitized)
        let more = names.count - Self.namesShown
        return names.prefix(Self.namesShown).joined(separator: ", ") + (more > 0 ? ", +\(more)" : "")
    }

    private func address(_ address: InterfaceAddress) -> (text: String, colour: TerminalStyle.Colour?) {
        let text = "\(address.address)/\(address.prefixLength)"
        let flags = address.flags
        if flags.contains(.duplicate) { return (text + " duplicate", .red) }
        if !address.isReady { return (text + " tentative", .yellow) }
        if flags.contains(.deprecated) { return (text + " deprecated", .yellow) }
        return (text, address.isPreferred ? nil : .grey)
    }
}

extension LinkReport.Proof {
    /// Such as `full, 24 ms`, or `full, lossy (8 %)`.
    var words: String {
        if connectivity == .full, let quality, quality.word != .good { return "full, \(quality.text)" }
        let time = connectivity == .full ? roundTrip.map { ", " + DurationText.milliseconds($0) } ?? "" : ""
        return connectivity.rawValue + time
    }
}

extension LinkReport.Traffic {
    /// Such as `1.2 MiB`: all that the link has carried.
    var words: String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        var amount = Double(received) + Double(sent)
        var unit = 0
        while amount >= 1024, unit + 1 < units.count {
            amount /= 1024
            unit += 1
        }
        let tenths = Int((amount * 10).rounded())
        return unit == 0 ? "\(Int(amount)) B" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}

extension Connectivity {
    /// The colour of the word for people.
    var colour: TerminalStyle.Colour {
        switch self {
        case .full: .green
        case .unknown: .yellow
        case .none, .portal, .limited: .red
        }
    }
}
