// Feeds texts to the configuration's parser. It must not trap or hang, every error must have a line, and what is
// written must read back the same.

/// Called by libFuzzer with each text that it generates.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = Array(UnsafeBufferPointer(start: start, count: count))
    let lines = text.count { $0 == UInt8(ascii: "\n") } + 1
    // What follows a byte that no text has is a file of reach.d.
    let files = text.split(separator: 1, maxSplits: 2, omittingEmptySubsequences: false).enumerated().map {
        ($0.offset == 0 ? "reach.toml" : "reach.d/\($0.offset).toml", Array($0.element))
    }
    do throws(ConfigurationError) {
        let read = try ReadConfiguration(files)
        let written = read.text
        let again = try? Configuration.parse(Array(written.utf8), file: "written")
        precondition(again == read.configuration)
    } catch {
        precondition(!error.errors.isEmpty)
        precondition(error.errors.allSatisfy { (1...lines).contains($0.line ?? 0) })
        precondition(error.lines.allSatisfy { !$0.utf8.contains(UInt8(ascii: "\n")) })
    }
    return 0
}
