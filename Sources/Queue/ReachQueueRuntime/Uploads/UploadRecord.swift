internal import ReachCore
internal import ReachTransfer

/// The file by which a later run of the program resumes an upload: lines with a title, the upload's URL, four numbers,
/// the body's version, and the checksum of these.
extension UploadState {
    private static let title = "reach upload 1"

    /// - Returns: `nil` where there is nothing to resume.
    var text: String? {
        guard let url else { return nil }
        let numbers = [offset, highest, UInt64(restarts), body.bytes].map { "\($0)" }.joined(separator: " ")
        let lines = [Self.title, url.description, numbers, body.version].map { $0 + "\n" }.joined()
        return lines + String(CyclicRedundancy.checksum(Array(lines.utf8)), radix: 16) + "\n"
    }

    /// - Returns: `nil` for anything but a whole record.
    init?(text: String) {
        let lines = text.split(scalar: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count == 6, lines[0] == Self.title, let url = try? TransferURL(lines[1]) else { return nil }
        let numbers = lines[2].split(scalar: " ").compactMap { UInt64($0) }
        guard numbers.count == 4, numbers[0] <= numbers[3], let restarts = Int(exactly: numbers[2]) else { return nil }
        self.init(body: BodyIdentity(bytes: numbers[3], version: lines[3]))
        (self.url, offset, highest, self.restarts) = (url, numbers[0], numbers[1], restarts)
        guard self.text == text else { return nil }
    }
}
