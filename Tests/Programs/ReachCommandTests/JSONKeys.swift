/// The keys of the objects in a text of JSON, however deep: strings followed by a colon.
enum JSONKeys {
    static func all(in text: String) -> Set<String> {
        var keys: Set<String> = []
        var rest = Array(text.utf8)[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "\"")) {
            rest = rest[(start + 1)...]
            var end = rest.startIndex
            while end < rest.endIndex, rest[end] != UInt8(ascii: "\"") {
                end += rest[end] == UInt8(ascii: "\\") ? 2 : 1
            }
            guard end < rest.endIndex else { return keys }
            let string = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[(end + 1)...]
            if rest.first == UInt8(ascii: ":") { keys.insert(string) }
        }
        return keys
    }
}
