// Feeds bytes to the reader of the queue's change log: as one record, as a whole file, and as damage of a file that was
// written. It must not trap or hang, what is read must be written and read back the same, and of a damaged file the
// records before the damage must stay.

internal import Glibc

private let path = "/dev/shm/reach-fuzz-store-\(getpid())"
private let generation: Int64 = 0x1122_3344_5566_7788

/// Called by libFuzzer with each input that it generates; the first byte is the way to read the others.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let way = bytes.first else { return 0 }
    let rest = Array(bytes.dropFirst())
    switch way % 3 {
    case 0: readRecord(rest)
    case 1: readFile(rest)
    default: damageFile(rest)
    }
    return 0
}

private func changes(of record: [UInt8]) -> [LoggedChange]? {
    var cursor = ByteCursor(record[...])
    var changes: [LoggedChange] = []
    while !cursor.isAtEnd {
        guard let change = LoggedChange(&cursor) else { return nil }
        changes.append(change)
    }
    return changes
}

private func encoded(_ changes: [LoggedChange]) -> [UInt8] {
    var bytes = ByteWriter(capacity: 256)
    for change in changes { change.encode(into: &bytes) }
    return bytes.bytes
}

private func readRecord(_ record: [UInt8]) {
    guard let read = changes(of: record) else { return }
    // Numbers may be longer than they have to be, and text may not be UTF-8: so what was written is compared from the
    // second time on.
    let written = encoded(read)
    guard let again = changes(of: written) else { preconditionFailure("what was written cannot be read") }
    precondition(encoded(again) == written)

    var pending = PendingChanges()
    pending.add(read)
    let effective = pending.effective
    precondition(effective.count <= read.count && pending.isEmpty == read.isEmpty)
    for change in effective { _ = (change.endState, change.endTime, change.answerBytes, change.spoolName) }
    var folded = PendingChanges()
    folded.add(effective)
    precondition(encoded(folded.effective) == encoded(effective))
}

private func open() -> ChangeLogFile {
    do throws(SQLiteError) { return try ChangeLogFile(path, generation: generation) } catch { fatalError("\(error)") }
}

private func put(_ bytes: [UInt8]) {
    let file = creat(path, 0o600)
    defer { close(file) }
    precondition(file >= 0 && write(file, bytes, bytes.count) == bytes.count)
}

/// The records that are read, what is read as a loss, and where the next one goes.
private func read() -> (records: [[UInt8]], isDamaged: Bool, length: Int) {
    var log = open()
    var records: [[UInt8]] = []
    do throws(SQLiteError) {
        let isDamaged = try log.read { record in
            records.append(record)
            return true
        }
        return (records, isDamaged, log.length)
    } catch { fatalError("\(error)") }
}

private func readFile(_ bytes: [UInt8]) {
    put(bytes)
    let result = read()
    precondition(result.length <= bytes.count && (result.length == 0) == result.records.isEmpty)
}

/// The first two bytes are the place of the damage, the third is its length and the fourth the length of a record.
private func damageFile(_ bytes: [UInt8]) {
    guard bytes.count > 5 else { return }
    let place = Int(bytes[0]) << 8 | Int(bytes[1])
    let size = Int(bytes[3]) % 64 + 1
    let text = Array(bytes.dropFirst(4))
    let damage = text.prefix(Int(bytes[2]))
    put([])
    var written: [(end: Int, record: [UInt8])] = []
    do {
        var log = open()
        for begin in stride(from: 0, to: text.count, by: size) {
            let record = Array(text[begin..<min(begin + size, text.count)])
            do throws(SQLiteError) { try log.append(record) } catch { fatalError("\(error)") }
            written.append((log.length, record))
        }
    }
    let file = Glibc.open(path, O_WRONLY)
    precondition(pwrite(file, Array(damage), damage.count, off_t(place)) == damage.count)
    close(file)
    let result = read()
    let whole = written.prefix { $0.end <= place }
    precondition(result.records.count >= whole.count)
    // A checksum of 64 bits does not let a changed record pass; what is read is what was written.
    precondition(result.records.elementsEqual(written.prefix(result.records.count).map(\.record), by: ==))
    precondition(result.length == (result.records.isEmpty ? 0 : written[result.records.count - 1].end))
}
