internal import Glibc

/// An open directory, closed when the value goes away. Renaming the interface does not make it another's.
struct SysfsDirectory: ~Copyable {
    private let descriptor: CInt

    /// - Parameter path: Characters of C up to a zero, since the name of an interface need not be UTF-8.
    init?(path: [CChar]) {
        let opened = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        descriptor = opened
    }

    deinit { close(descriptor) }

    func has(_ entry: String) -> Bool { faccessat(descriptor, entry, F_OK, 0) == 0 }

    /// What the file holds, without the line's end.
    func text(of file: String) -> Substring? {
        readText(at: file, in: descriptor).map { $0.hasSuffix("\n") ? $0.dropLast() : $0[...] }
    }

    /// The last part of where the symbolic link points.
    func target(of link: String) -> String? {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlinkat(descriptor, link, &path, path.count)
        guard count > 0 else { return nil }
        let name = path.prefix(count).split(separator: CChar(bitPattern: UInt8(ascii: "/"))).last ?? []
        return String(decoding: name.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// The beginning of a file of sysfs or procfs, which have no size to ask for; `nil` if it cannot be read.
func readText(at path: String, in directory: CInt = AT_FDCWD) -> String? {
    let most = 1 << 16
    let descriptor = openat(directory, path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
        var text: [UInt8] = []
        while text.count < most {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            guard count >= 0 else { return nil }
            // A seq_file ends each read with a whole record: only an empty one is the end.
            if count == 0 { break }
            text += buffer.prefix(count)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
