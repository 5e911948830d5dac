internal import Glibc
internal import ReachCore
internal import ReachLoop

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
        SmallFile.text(file, in: descriptor).map { $0.hasUTF8Suffix("\n") ? $0.dropLast() : $0[...] }
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
