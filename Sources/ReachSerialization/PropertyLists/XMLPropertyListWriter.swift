internal import ReachCore

/// Writes property lists as XML, with the tabs and line breaks of Apple's writer.
enum XMLPropertyListWriter {
    private static let head = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">

        """

    static func write(_ value: PropertyListValue) -> [UInt8] {
        var bytes = Array(head.utf8)
        append(value, level: 0, to: &bytes)
        bytes += "</plist>\n".utf8
        return bytes
    }

    private static func append(_ value: PropertyListValue, level: Int, to bytes: inout [UInt8]) {
        switch value {
        case .bool(let flag): line(flag ? "<true/>" : "<false/>", level, &bytes)
        case .integer(let number): line("<integer>\(number)</integer>", level, &bytes)
        case .real(let number): line("<real>\(text(of: number))</real>", level, &bytes)
        case .string(let text): line("<string>\(escaped(text))</string>", level, &bytes)
        case .date(let time): line("<date>\(seconds(of: time))</date>", level, &bytes)
        case .data(let data): appendData(data, level, &bytes)
        case .array(let elements):
            if elements.isEmpty { return line("<array/>", level, &bytes) }
            line("<array>", level, &bytes)
            for element in elements { append(element, level: level + 1, to: &bytes) }
            line("</array>", level, &bytes)
        case .dictionary(let members):
            if members.isEmpty { return line("<dict/>", level, &bytes) }
            line("<dict>", level, &bytes)
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                line("<key>\(escaped(name))</key>", level + 1, &bytes)
                append(member, level: level + 1, to: &bytes)
            }
            line("</dict>", level, &bytes)
        }
    }

    private static func line(_ text: String, _ level: Int, _ bytes: inout [UInt8]) {
        for _ in 0..<level { bytes.append(UInt8(ascii: "\t")) }
        bytes += text.utf8
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Appends data in lines of 76 characters, less 8 for each tab of indentation, as Apple's writer does.
    private static func appendData(_ data: [UInt8], _ level: Int, _ bytes: inout [UInt8]) {
        line("<data>", level, &bytes)
        let length = max(4, (76 - 8 * min(level, 8)) / 4 * 4)
        var rest = Base64.encode(data).utf8[...]
        while !rest.isEmpty {
            line(String(decoding: rest.prefix(length), as: UTF8.self), level, &bytes)
            rest = rest.dropFirst(length)
        }
        line("</data>", level, &bytes)
    }

    private static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { "&<>\r".utf8.contains($0) }) else { return text }
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            // An unescaped carriage return would be read as a line feed.
            case UInt8(ascii: "\r"): bytes += "&#13;".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func text(of number: Double) -> String {
        if number.isNaN { return "nan" }
        if number.isInfinite { return number < 0 ? "-infinity" : "+infinity" }
        return number.description
    }

    private static func seconds(of time: Timestamp) -> String { time.description.prefix(19) + "Z" }
}
