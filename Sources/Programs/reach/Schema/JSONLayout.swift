/// Breaks JSON into indented lines, for people. What is short and has nothing in it stays on one line.
struct JSONLayout {
    private static let shortest = 100

    private let document: [UInt8]
    private var position = 0
    private var output: [UInt8] = []

    /// - Parameter document: A document without spaces between its parts, as ``JSONWriter`` writes it.
    /// - Returns: The same document in lines; the last one ends with a newline.
    static func indented(_ document: [UInt8]) -> [UInt8] {
        var layout = JSONLayout(document)
        layout.value(indent: 0)
        return layout.output + [UInt8(ascii: "\n")]
    }

    private init(_ document: [UInt8]) { self.document = document }

    private mutating func value(indent: Int) {
        guard position < document.count else { return }
        let isContainer = [UInt8(ascii: "{"), UInt8(ascii: "[")].contains(document[position])
        guard isContainer, let end = containerEnd(), end - position > Self.shortest || hasContainer(before: end) else {
            return line(until: isContainer ? containerEnd() ?? document.count : scalarEnd())
        }
        output.append(document[position])
        position += 1
        while position < end - 1 {
            newline(indent + 1)
            if document[position] == UInt8(ascii: "\""), case let end = scalarEnd(), end < document.count,
                document[end] == UInt8(ascii: ":")
            {
                line(until: end + 1)
                output.append(UInt8(ascii: " "))
            }
            value(indent: indent + 1)
            if position < end - 1 {
                output.append(UInt8(ascii: ","))
                position += 1
            }
        }
        newline(indent)
        output.append(document[end - 1])
        position = end
    }

    private mutating func newline(_ indent: Int) {
        output.append(UInt8(ascii: "\n"))
        output += [UInt8](repeating: UInt8(ascii: " "), count: 2 * indent)
    }

    /// Copies bytes, with a space behind each comma and colon that is not in a string.
    private mutating func line(until end: Int) {
        while position < end {
            let next = document[position] == UInt8(ascii: "\"") ? min(stringEnd(position), end) : position + 1
            output += document[position..<next]
            let isMark =
                next < end && (document[position] == UInt8(ascii: ",") || document[position] == UInt8(ascii: ":"))
            if isMark { output.append(UInt8(ascii: " ")) }
            position = next
        }
    }

    private func stringEnd(_ start: Int) -> Int {
        var index = start + 1
        while index < document.count, document[index] != UInt8(ascii: "\"") {
            index += document[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index + 1, document.count)
    }

    private func scalarEnd() -> Int {
        if document[position] == UInt8(ascii: "\"") { return stringEnd(position) }
        let rest = document[position...]
        return rest.firstIndex { [UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]")].contains($0) }
            ?? rest.endIndex
    }

    /// The index behind the object or array that begins here.
    private func containerEnd() -> Int? {
        var depth = 0
        var index = position
        while index < document.count {
            switch document[index] {
            case UInt8(ascii: "\""): index = stringEnd(index)
            case UInt8(ascii: "{"), UInt8(ascii: "["): (depth, index) = (depth + 1, index + 1)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                (depth, index) = (depth - 1, index + 1)
                if depth == 0 { return index }
            default: index += 1
            }
        }
        return nil
    }

    private func hasContainer(before end: Int) -> Bool {
        var index = position + 1
        while index < end {
            switch document[index] {
            case UInt8(ascii: "\""): index = stringEnd(index)
            case UInt8(ascii: "{"), UInt8(ascii: "["): return true
            default: index += 1
            }
        }
        return false
    }
}
