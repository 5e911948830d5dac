internal import Glibc

/// An open directory of sysfs, closed when the value goes away. It stays with its interface when that is renamed.
struct SysfsDirectory: ~Copyable {
    private let descriptor: CInt

    /// - Parameter path: A C string, since the name of an interface need not be UTF-8.
    init?(path: [CChar]) {
        let opened = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        descriptor = opened
    }

    deinit { close(descriptor) }

    func has(_ entry: String) -> Bool { faccessat(descriptor, entry, F_OK, 0) == 0 }

    /// The contents of the file, without the newline at the end.
    func text(of file: String) -> Substring? {
        readText(at: file, in: descriptor).map { $0.hasSuffix("\n") ? $0.dropLast() : $0[...] }
    }

    /// The last component of the symbolic link's target.
    func target(of link: String) -> String? {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlinkat(descriptor, link, &path, path.count)
        guard count > 0 else { return nil }
        let name = path.prefix(count).split(separator: CChar(bitPattern: UInt8(ascii: "/"))).last ?? []
        return String(decoding: name.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// The first 64 KiB of a sysfs or procfs file, which reports no size; `nil` if it cannot be read.
func readText(at path: String, in directory: CInt = AT_FDCWD) -> String? {
    let limit = 1 << 16
    let descriptor = openat(directory, path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
        var text: [UInt8] = []
        while text.count < limit {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            guard count >= 0 else { return nil }
            // A seq_file returns whole records, so a short read is not the end; only an empty one is.
            if count == 0 { break }
            text += buffer.prefix(count)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
