internal import Glibc

/// Words of a command line as texts that keep each byte: names of files are bytes, and need not be UTF-8.
///
/// A byte that is not of UTF-8 becomes a scalar at the end of the last private area, and so do the bytes of such
/// scalars themselves, so that the way back is certain.
enum ByteText {
    private static let first: UInt32 = 0x10FF00
    private static let scalars = (first + 0x80)...(first + 0xFF)

    static func text(of bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self), isText(text) { return text }
        var (scalars, place) = (String.UnicodeScalarView(), 0)
        var (parser, rest) = (Unicode.UTF8.ForwardParser(), bytes.makeIterator())
        while true {
            let count: Int
            switch parser.parseScalar(from: &rest) {
            case .valid(let encoded):
                count = encoded.count
                let scalar = Unicode.UTF8.decode(encoded)
                if !self.scalars.contains(scalar.value) {
                    scalars.append(scalar)
                    place += count
                    continue
                }
            case .error(let length): count = length
            case .emptyInput: return String(scalars)
            }
            scalars.append(contentsOf: bytes[place..<(place + count)].compactMap { Unicode.Scalar(first + UInt32($0)) })
            place += count
        }
    }

    static func bytes(of text: some StringProtocol) -> [UInt8] {
        text.unicodeScalars.flatMap { scalar in
            scalars.contains(scalar.value)
                ? [UInt8(truncatingIfNeeded: scalar.value)] : Array(String(scalar).utf8)
        }
    }

    /// Whether it stands for UTF-8.
    static func isText(_ text: some StringProtocol) -> Bool {
        !text.unicodeScalars.contains { scalars.contains($0.value) }
    }

    /// For people.
    static func shown(_ text: String) -> String {
        isText(text) ? text : String(decoding: bytes(of: text), as: UTF8.self)
    }

    /// Opens the file of this name.
    static func open(_ path: String, _ flags: CInt, _ mode: mode_t = 0) -> CInt {
        let name = bytes(of: path).map(CChar.init(bitPattern:)) + [0]
        return Glibc.open(name, flags, mode)
    }

    /// The words of this process's command line, without the program's name.
    static func arguments() -> [String] {
        var (words, word) = ([String](), CommandLine.unsafeArgv)
        while let start = word.pointee {
            words.append(text(of: UnsafeBufferPointer(start: start, count: strlen(start)).map(UInt8.init(bitPattern:))))
            word += 1
        }
        return Array(words.dropFirst())
    }
}
