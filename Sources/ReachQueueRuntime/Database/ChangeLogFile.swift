internal import Glibc
internal import ReachCore

/// A file of records in the order of their writing, before they go into the tables, many at a time.
///
/// The tables take a page of 4 KiB for each place that a change touches, and twice, by way of SQLite's log; here it takes
/// its own length. A record has a checksum over it and all before it, and the number of its generation: one generation of
/// records goes into the tables with its number, in one transaction, and the next one overwrites it.
struct ChangeLogFile: ~Copyable {
    let descriptor: CInt
    /// Of the records that are written now.
    private(set) var generation: Int64
    /// The bytes of their records.
    private(set) var length = 0
    private var chain: UInt64

    /// A checksum, a length and a generation.
    private static let headLength = 24
    /// A file that was longer once is shortened to this.
    private static let keptLength = 1 << 20

    /// Opens the file, and makes it if it is not there.
    ///
    /// - Parameter generation: The one to be written: larger than that of all records that are in the tables.
    init(_ path: String, generation: Int64) throws(SQLiteError) {
        let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW
        let present = open(path, flags)
        descriptor = present >= 0 ? present : open(path, flags | O_CREAT, 0o600)
        guard descriptor >= 0 else { throw Self.error("open \(path)") }
        // Its name has to outlast a loss of power, too.
        if present < 0, !Self.syncDirectory(of: path) { throw Self.error("fsync the directory of \(path)") }
        self.generation = generation
        chain = UInt64(bitPattern: generation)
    }

    deinit { close(descriptor) }

    private static func syncDirectory(of path: String) -> Bool {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        let directory = open(String(path[..<end]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return false }
        defer { close(directory) }
        return fsync(directory) == 0
    }

    /// The records of this generation, up to the first that is not whole. New ones follow them.
    mutating func read() throws(SQLiteError) -> [[UInt8]] {
        let bytes = try whole()
        var records: [[UInt8]] = []
        while let record = record(in: bytes, at: length) {
            chain = Self.checksum(record, generation, after: chain)
            length += Self.headLength + record.count
            records.append(Array(record))
        }
        return records
    }

    private func record(in bytes: [UInt8], at place: Int) -> ArraySlice<UInt8>? {
        let start = place + Self.headLength
        guard start <= bytes.count else { return nil }
        let words = (0..<3).map { word in
            (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[place + word * 8 + $1]) << UInt64($1 * 8) }
        }
        guard words[2] == UInt64(bitPattern: generation), words[1] > 0, words[1] <= UInt64(bytes.count - start) else {
            return nil
        }
        let record = bytes[start..<start + Int(words[1])]
        return Self.checksum(record, generation, after: chain) == words[0] ? record : nil
    }

    private func whole() throws(SQLiteError) -> [UInt8] {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.error("fstat") }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count, off_t(count))
            }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { throw Self.error("read the change log") }
            if more == 0 { break }
            count += more
        }
        return Array(bytes.prefix(count))
    }

    /// Writes a record, or nothing of it.
    mutating func append(_ record: [UInt8]) throws(SQLiteError) {
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
                // Nobody else gets the room that a part of it took.
                ftruncate(descriptor, off_t(length))
                throw error
            }
            count += more
        }
        chain = sum
        length += bytes.count
    }

    /// The records are in the tables, and safe there: the next ones overwrite them.
    mutating func begin(_ next: Int64) {
        generation = next
        if length > Self.keptLength { ftruncate(descriptor, off_t(Self.keptLength)) }
        length = 0
        chain = UInt64(bitPattern: next)
    }

    /// Leaves nothing in the file.
    func empty() { ftruncate(descriptor, 0) }

    /// Of bytes that a disk may have lost, not of bytes that somebody chose: who can write here can write the tables, too.
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
