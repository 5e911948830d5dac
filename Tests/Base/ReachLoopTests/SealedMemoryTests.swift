import CReachLinux
import Foundation
import Glibc
import ReachTesting
import Testing

@testable import ReachLoop

@Suite struct SealedMemoryTests {
    /// A file of 3 MiB with a hole in the middle.
    private func fileWithHole(in directory: TemporaryDirectory) throws -> (path: String, content: Data) {
        let path = directory.path + "/file"
        let file = FileDescriptor(owning: open(path, O_RDWR | O_CREAT, 0o600))
        let text = [UInt8](repeating: 7, count: 1 << 20)
        try FileDescriptor.write(text, to: file.rawValue)
        lseek(file.rawValue, 2 << 20, SEEK_SET)
        try FileDescriptor.write(text, to: file.rawValue)
        return (path, try Data(contentsOf: URL(filePath: path)))
    }

    private func blocks(of path: String) -> Int {
        var status = stat()
        stat(path, &status)
        return Int(status.st_blocks)
    }

    @Test(arguments: [1 << 20, 700_001, 16 << 20]) func `a file is copied in pieces, and a hole stays a hole`(
        piece: Int
    ) throws {
        let directory = try TemporaryDirectory()
        let (path, content) = try fileWithHole(in: directory)
        let copy = directory.path + "/copy"
        let source = FileDescriptor(owning: open(path, O_RDONLY))
        let target = FileDescriptor(owning: open(copy, O_WRONLY | O_CREAT, 0o600))
        var offset: Int64 = 0
        while case let memory = try SealedMemory(of: source.rawValue, from: offset, atMost: piece), memory.count > 0 {
            #expect(memory.count <= Int64(piece))
            try memory.append(to: target.rawValue)
            offset += memory.count
        }
        #expect(try Data(contentsOf: URL(filePath: copy)) == content)
        #expect(blocks(of: copy) < (3 << 20) / 512, "the hole takes room")
    }

    @Test func `nothing can change it any more`() throws {
        let directory = try TemporaryDirectory()
        let source = FileDescriptor(owning: open(try directory.file("file", "text"), O_RDONLY))
        let memory = try SealedMemory(of: source.rawValue, from: 1, atMost: 2)
        #expect(memory.count == 2)
        #expect(pwrite(memory.descriptor, "x", 1, 0) < 0 && errno == EPERM)
        #expect(ftruncate(memory.descriptor, 1) < 0 && errno == EPERM)
        #expect(ftruncate(memory.descriptor, 9) < 0 && errno == EPERM)
    }

    @Test func `what could change, or never answer, is refused`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file("file", "text")
        #expect(throws: SystemError.self) { try SealedMemory(FileDescriptor(owning: open(path, O_RDONLY))) }
        #expect(throws: SystemError.self) { try SealedMemory(FileDescriptor(owning: open("/dev/zero", O_RDONLY))) }
        #expect(throws: SystemError.self) { try SealedMemory(FileDescriptor(owning: reach_memory_file("text", 4))) }
        var ends: [CInt] = [0, 0]
        #expect(reach_pipe(&ends) == 0)
        close(ends[1])
        let end = ends[0]
        #expect(throws: SystemError.self) { try SealedMemory(FileDescriptor(owning: end)) }
    }
}
