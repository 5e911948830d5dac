/// Finds keys with more parts than any configuration has. The parser creates a nested table for each part, and visits
/// and destroys these recursively, so such keys must be found before.
struct TOMLKeyLength {
    static let limit = 64

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var line = 1
    private var parts = 1

    private init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// The line of the first key that is too long. Up to the first syntax error this reads the text as a parser does; a
    /// parser does not read the rest.
    static func lineOfExcess(in text: [UInt8]) -> Int? {
        text.withUnsafeBufferPointer { bytes in
            var scan = TOMLKeyLength(bytes)
            while scan.position < bytes.count, scan.parts <= limit { scan.step() }
            return scan.parts > limit ? scan.line : nil
        }
    }

    private func peek(_ distance: Int = 0) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    private mutating func step() {
        let byte = bytes[position]
        switch byte {
        case UInt8(ascii: "#"): skipToEndOfLine()
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            if peek(1) == byte, peek(2) == byte { skipLongString(byte) } else { skipString(byte) }
        case UInt8(ascii: "."):
            parts += 1
            position += 1
        case UInt8(ascii: "="), UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "\n"):
            if byte == UInt8(ascii: "\n") { line += 1 }
            parts = 1
            position += 1
        default: position += 1
        }
    }

    private mutating func skipToEndOfLine() {
        while let byte = peek(), byte != UInt8(ascii: "\n") { position += 1 }
    }

    private mutating func skipString(_ quote: UInt8) {
        position += 1
        while let byte = peek(), byte != UInt8(ascii: "\n") {
            position +=
                byte == UInt8(ascii: "\\") && quote == UInt8(ascii: "\"") && peek(1) != UInt8(ascii: "\n") ? 2 : 1
            if byte == quote { return }
        }
    }

    private mutating func skipLongString(_ quote: UInt8) {
        position += 3
        while let byte = peek() {
            if byte == quote, peek(1) == quote, peek(2) == quote {
                // Up to two quotes may precede the closing three.
                var run = 3
                while run < 5, peek(run) == quote { run += 1 }
                position += run
                return
            }
            if byte == UInt8(ascii: "\n") { line += 1 }
            let isEscape = byte == UInt8(ascii: "\\") && quote == UInt8(ascii: "\"") && peek(1) != UInt8(ascii: "\n")
            position += isEscape ? 2 : 1
        }
    }
}
