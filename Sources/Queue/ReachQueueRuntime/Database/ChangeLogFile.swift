internal import Glibc
internal import ReachCore

/// A file of records in the order of their writing, which later go into the tables, many at a time.
///
/// In the tables a change takes a page of 4 KiB for each place that it touches, and takes it twice, in SQLite's log as
/// well; here it takes only its own length. A record has a checksum over itself and all records before it, and the
/// number of its generation. The tables have the number of the generation that is not in them yet. One transaction
/// brings a generation into the tables, together with the number of the next generation, whose records then overwrite
/// the file. Numbers are random, so that the log of another database, or of a copy of this one, is not mistaken for
/// this one's.
struct ChangeLogFile: ~Copyable {
    private let descriptor: CInt
    /// The generation of the records that are written now.
    private(set) var generation: Int64
    /// The generation of the records after these.
    private(set) var next = Self.random()
    /// The bytes of the records of ``generation``.
    private(set) var length = 0
    private var chain: UInt64

    /// A checksum, a length and a generation.
    private static let headLength = 24
    /// The length in bytes to which a longer file is shortened.
    private static let keptLength = 1 << 20
    /// The longest generation in bytes, unless it is a single record. While the disk takes no changes into the tables,
    /// they also stay in memory.
    private static let longest = 16 << 20

    /// Opens the file, and creates it if it does not exist.
    ///
    /// - Parameter generation: The one that is not in the tables.
    init(_ path: String, generation: Int64) throws(SQLiteError) {
        descriptor = try Self.opened(path)
        self.generation = generation
        chain = UInt64(bitPattern: generation)
    }

    private static func opened(_ path: String) throws(SQLiteError) -> CInt {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw error("open \(path)") }
        // The file's name must survive a loss of power, too. An earlier run may have been killed before it could wait
        // for that.
        guard syncDirectory(of: path) else {
            let error = error("fsync the directory of \(path)")
            close(file)
            throw error
        }
        return file
    }

    deinit { close(descriptor) }

    private static func random() -> Int64 { .random(in: 1 ... .max) }

    private static func syncDirectory(of path: String) -> Bool {
        let end = path.unicodeScalars.lastIndex(of: "/") ?? path.startIndex
        let directory = open(String(path[..<end]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return false }
        defer { close(directory) }
        return fsync(directory) == 0
    }

    // MARK: Reading

    /// Reads the records of this generation, up to the first that is not whole. New records are written behind those
    /// that were accepted.
    ///
    /// - Parameter accept: Whether a record can be understood; reading also ends at the first that cannot.
    /// - Returns: Whether records of this generation follow the end: they are lost.
    mutating func read(_ accept: ([UInt8]) -> Bool) throws(SQLiteError) -> Bool {
        while let (record, sum) = try record(at: length) {
            guard accept(record) else { return true }
            chain = sum
            length += Self.headLength + record.count
        }
        return try hasHead(from: length + 1)
    }

    private func record(at place: Int) throws(SQLiteError) -> (bytes: [UInt8], sum: UInt64)? {
        let head = try bytes(at: place, Self.headLength)
        guard head.count == Self.headLength else { return nil }
        let words = head.withUnsafeBytes { head in
            (0..<3).map { UInt64(littleEndian: head.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self)) }
        }
        guard words[2] == UInt64(bitPattern: generation), let count = Int(exactly: words[1]), count > 0 else {
            return nil
        }
        let record = try bytes(at: place + Self.headLength, count)
        guard record.count == count, Self.checksum(record[...], generation, after: chain) == words[0] else {
            return nil
        }
        return (record, words[0])
    }

    /// Whether the head of a record of this generation begins there or later. A generation is a random number, so no
    /// other bytes are equal to it.
    private func hasHead(from start: Int) throws(SQLiteError) -> Bool {
        var place = start + 16
        while true {
            let portion = try bytes(at: place, 1 << 16)
            if Self.contains(portion, UInt64(bitPattern: generation)) { return true }
            if portion.count < 1 << 16 { return false }
            place += portion.count - 7
        }
    }

    private static func contains(_ bytes: [UInt8], _ sought: UInt64) -> Bool {
        // The last eight bytes; the newest is the most significant one.
        var last: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            last = last >> 8 | UInt64(byte) << 56
            if last == sought, index >= 7 { return true }
        }
        return false
    }

    /// Reads bytes of the file; fewer than `count` at its end.
    private func bytes(at place: Int, _ count: Int) throws(SQLiteError) -> [UInt8] {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.error("fstat") }
        var bytes = [UInt8](repeating: 0, count: max(0, min(count, Int(status.st_size) - place)))
        var done = 0
        while done < bytes.count {
            let more = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress?.advanced(by: done), $0.count - done, off_t(place + done))
            }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { throw Self.error("read the change log") }
            if more == 0 { break }
            done += more
        }
        return Array(bytes.prefix(done))
    }

    /// Copies the whole file, then cuts this one behind the records that were read.
    ///
    /// - Returns: Whether there was room for the copy; otherwise the file stays as it is.
    func copyAside(to path: String) -> Bool {
        let copy = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard copy >= 0 else { return false }
        defer { close(copy) }
        var place = 0
        while let portion = try? bytes(at: place, 1 << 16) {
            if portion.isEmpty {
                // Only once the copy outlasts a loss of power.
                guard fsync(copy) == 0, Self.syncDirectory(of: path) else { break }
                ftruncate(descriptor, off_t(length))
                return true
            }
            guard write(copy, portion, portion.count) == portion.count else { break }
            place += portion.count
        }
        unlink(path)
        return false
    }

    /// Replaces another value of the same file, whose records are in memory. These have to go into the tables before
    /// anything is appended. If that transaction fails although it has reached the file, `next` shows this at the next
    /// try.
    mutating func replace(_ old: borrowing ChangeLogFile) {
        next = old.next
        length = old.length
    }

    // MARK: Writing

    /// Whether a record of this number of bytes can be appended.
    func hasRoom(for count: Int) -> Bool { length == 0 || length + count <= Self.longest }

    /// Writes a record, or nothing of it.
    mutating func append(_ record: [UInt8]) throws(SQLiteError) {
        guard hasRoom(for: record.count) else { throw .storage("the change log is full") }
        let sum = Self.checksum(record[...], generation, after: chain)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.headLength + record.count)
        for word in [sum, UInt64(record.count), UInt64(bitPattern: generation)] {
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        bytes += record
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count, off_t(length + count))
            }
            if more < 0, errno == EINTR { continue }
            guard more > 0 else {
                let error = Self.error("write the change log")
                // Remove the written part of the record.
                ftruncate(descriptor, off_t(length))
                throw error
            }
            count += more
        }
        chain = sum
        length += bytes.count
    }

    /// Begins the next generation, once the tables have the records and ``next``.
    mutating func beginNext() {
        generation = next
        next = Self.random()
        length = 0
        chain = UInt64(bitPattern: generation)
    }

    /// Waits until the records are on the disk.
    func sync() -> Bool { fdatasync(descriptor) == 0 }

    /// Gives back the room that a long generation took. To be called only when the tables with its changes are on the
    /// disk.
    func shorten() {
        var status = stat()
        guard length == 0, fstat(descriptor, &status) == 0, status.st_size > Self.keptLength else { return }
        ftruncate(descriptor, off_t(Self.keptLength))
    }

    /// Empties the file. To be called only when the tables are on the disk.
    func empty() { ftruncate(descriptor, 0) }

    /// A checksum against bytes that the disk lost, not against an attacker: whoever can write this file can write the
    /// tables, too.
    private static func checksum(_ bytes: ArraySlice<UInt8>, _ generation: Int64, after chain: UInt64) -> UInt64 {
        var sum = chain ^ UInt64(bitPattern: generation) &* 0x9e37_79b9_7f4a_7c15 ^ UInt64(bytes.count)
        bytes.withUnsafeBytes { bytes in
            var place = 0
            while place < bytes.count {
                var word: UInt64 = 0
                if place + 8 <= bytes.count {
                    word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                } else {
                    for offset in place..<bytes.count { word |= UInt64(bytes[offset]) << UInt64((offset - place) * 8) }
                }
                // The mixing step of MurmurHash3's 64-bit finaliser.
                sum = (sum ^ word) &* 0xff51_afd7_ed55_8ccd
                sum ^= sum >> 32
                place += 8
            }
        }
        sum = (sum ^ sum >> 33) &* 0xc4ce_b9fe_1a85_ec53
        return sum ^ sum >> 33
    }

    private static func error(_ call: String) -> SQLiteError {
        .storage("\(call): \(String(cString: strerror(errno))) (\(errno))")
    }
}
