internal import ReachCore

/// Writes the page's data as JSON.
///
/// Texts that many hosts share are written once and numbered, so that 10,000 hosts are a small file. Times are
/// milliseconds since 1970, since scripts count so. `page.js` names the columns.
enum PageData {
    /// The most events of one host, and of all. The newest are kept.
    static let eventsOfHost = 40
    static let eventsOfAll = 60_000
    /// The newest absences of a host.
    static let absencesOfHost = 24
    private static let longAgo: Int64 = 400 * 86_400

    /// - Returns: Bytes that can stand within a script element.
    static func bytes(_ page: FleetPage) -> [UInt8] {
        var texts = NumberedTexts()
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("title", DisplayText.sanitized(page.title))
            json.field("asOf", page.asOf.milliseconds)
            json.field("written", page.written.milliseconds)
            json.field("interval", (page.interval?.nanoseconds ?? 0) / 1_000_000_000)
            json.field("live", page.live.map(Int64.init(clamping:)) ?? -1)
            json.field("known", page.known?.milliseconds ?? 0)
            json.field("cut", page.isCut)
            json.field("engine", object: { engine(page, &$0) })
            json.field("outages", array: { json in for outage in newestFirst(page.outages) { write(outage, &json) } })
            // One host says as much as its line.
            let lines = page.lines.filter { $0.hosts.count > 1 }
            let names = Dictionary(lines.flatMap { line in line.hosts.map { ($0, line.name) } }) { first, _ in first }
            json.field("lines", array: { json in for line in lines { write(line, &json, &texts) } })
            json.field(
                "hosts",
                array: { json in
                    for (index, host) in page.hosts.enumerated() {
                        let strip = page.strips.isEmpty ? nil : page.strips[index]
                        let past = page.pasts.isEmpty ? HostPast() : page.pasts[index]
                        write(host, names[host.id], strip, past, asOf: page.asOf, &json, &texts)
                    }
                })
            let most = max(4, min(eventsOfHost, eventsOfAll / max(page.hosts.count, 1)))
            json.field(
                "timelines", array: { json in for host in page.hosts { timeline(host, most, &json, &texts) } })
            json.field("strings", texts.list)
        }
        return scriptSafe(json.bytes)
    }

    /// `<` could begin the end of the script element or a comment in it. In JSON it stands only within texts, where an
    /// escape means the same. U+2028 and U+2029, which end a line of a script, are escaped by ``JSONWriter``.
    private static func scriptSafe(_ json: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(json.count + json.count / 16)
        for byte in json {
            if byte == UInt8(ascii: "<") { output += "\\u003c".utf8 } else { output.append(byte) }
        }
        return output
    }

    // MARK: - Parts

    private static func engine(_ page: FleetPage, _ json: inout JSONWriter) {
        json.field("ok", page.engineTrouble == nil)
        json.field("text", page.engineTrouble.map { "Engine: \(DisplayText.sanitized($0))" } ?? "Engine answers")
        json.field("notes", page.engineNotes.map(DisplayText.sanitized))
    }

    private static func newestFirst(_ outages: [Outage]) -> [Outage] { outages.sorted { $0.first > $1.first } }

    private static func write(_ outage: Outage, _ json: inout JSONWriter) {
        json.object { json in
            json.field("id", "\(outage.extent.trait.name) \(outage.extent.trait.value) \(outage.first.milliseconds)")
            json.field("open", outage.isOpen)
            json.field(
                "text",
                array: { json in
                    for piece in outage.sentence {
                        switch piece {
                        case .words(let words): json.value(words)
                        case .time(let time): json.value(time.milliseconds)
                        }
                    }
                })
            json.field("more", outage.addition)
            json.field("hosts", array: { json in for member in outage.members { json.value(Int64(member)) } })
        }
    }

    /// Of one that carries, or whose hosts said goodbye, nobody needs to read.
    private static func write(_ line: FleetLine, _ json: inout JSONWriter, _ texts: inout NumberedTexts) {
        guard line.word == .silent || line.word == .limited else { return }
        json.array {
            $0.value(texts.number(line.name))
            $0.value(Int64(line.word.number))
            $0.value(line.since?.milliseconds ?? 0)
        }
    }

    private static func write(
        _ host: PageHost, _ line: String?, _ strip: String?, _ past: HostPast, asOf: Timestamp,
        _ json: inout JSONWriter,
        _ texts: inout NumberedTexts
    ) {
        json.array { json in
            json.value(host.id)
            json.value(DisplayText.sanitized(host.name ?? ""))
            json.value(Int64(host.presence.word.number))
            json.value(host.presence.since?.milliseconds ?? 0)
            json.value(texts.number(host.presence.why))
            json.value(texts.number(host.linkClass?.rawValue))
            json.array { json in
                for (name, value) in host.labels.sorted(by: { $0.key < $1.key }) {
                    json.value(texts.number("\(name)=\(value)"))
                }
            }
            json.value(host.presence.lastSeen?.milliseconds ?? 0)
            json.value(Int64(clamping: host.behind))
            json.value(host.presence.isPresumed ? 1 as Int64 : 0)
            json.value(texts.number(host.note))
            json.value(texts.number(strip))
            json.value(texts.number(host.quiet))
            // Pairs of begin and end, in seconds before the page's time. The script need not know what is longer ago.
            json.array { json in
                for absence in past.absences.filter({ !$0.isSwitchedOff }).suffix(absencesOfHost) {
                    json.value(seconds(absence.start, before: asOf) ?? longAgo)
                    json.value(seconds(absence.end, before: asOf) ?? 0)
                }
            }
            json.value(host.known?.milliseconds ?? 0)
            json.array { json in
                for span in past.uncounted.suffix(absencesOfHost) {
                    json.value(seconds(span.lowerBound, before: asOf) ?? longAgo)
                    json.value(seconds(span.upperBound, before: asOf) ?? 0)
                }
            }
            json.value(host.presence.isDegraded ? 1 as Int64 : 0)
            json.value(texts.number(line))
        }
    }

    private static func seconds(_ time: Int64, before asOf: Timestamp) -> Int64? {
        time == .min || time == .max ? nil : seconds(Timestamp(nanosecondsSince1970: time), before: asOf)
    }

    private static func seconds(_ time: Timestamp?, before asOf: Timestamp) -> Int64? {
        time.map { min(longAgo, max(0, $0.duration(to: asOf).nanoseconds / 1_000_000_000)) }
    }

    private static func timeline(_ host: PageHost, _ most: Int, _ json: inout JSONWriter, _ texts: inout NumberedTexts)
    {
        json.array { json in
            for event in host.timeline.suffix(most).reversed() {
                json.array { json in
                    json.value(event.time.milliseconds)
                    json.value(Int64(event.word?.number ?? noWord))
                    json.value(texts.number(event.what))
                    json.value(texts.number(event.why))
                    json.value(event.isHostClock ? 1 : event.hostTime?.milliseconds ?? 0)
                }
            }
        }
    }

    /// The page's sign for an event that does not say which word the host is in.
    private static let noWord = 5
}

/// Texts by numbers, in the order of their first use. Number 0 is no text.
private struct NumberedTexts {
    private var numbers = ["": 0 as Int64]
    private(set) var list = [""]

    mutating func number(_ text: String?) -> Int64 {
        guard let text else { return 0 }
        if let number = numbers[text] { return number }
        let number = Int64(list.count)
        numbers[text] = number
        list.append(DisplayText.sanitized(text))
        return number
    }
}

extension HostWord {
    /// The word's place among all, which the page and its signs use.
    var number: Int {
        switch self {
        case .here: 0
        case .limited: 1
        case .silent: 2
        case .left: 3
        case .unseen: 4
        }
    }
}

extension Timestamp {
    fileprivate var milliseconds: Int64 { nanosecondsSince1970 / 1_000_000 }
}
