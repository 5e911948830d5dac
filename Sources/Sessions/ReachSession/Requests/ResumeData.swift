internal import Glibc
internal import ReachCore
internal import ReachTransfer

/// The state of an interrupted download, from which
/// ``RequestSession/download(resuming:headers:when:options:completion:)`` continues in this process or a later one.
///
/// The bytes received stay in a file next to the destination. The download resumes by Range and If-Range (RFC 9110,
/// 13.1.5): a server whose file has changed, or that does not support ranges, sends the whole file again.
public struct ResumeData: Hashable, Sendable, Codable {
    /// The URL of the download. Set another one for the same file where the first is no longer valid, as a signed one
    /// after its time: the entity tag shows whether it has the same bytes.
    public var url: String
    /// The path of the complete file.
    public let destination: String
    /// The file with the bytes received so far. A record of the progress is next to it, with `.record` after its name.
    public let partialFile: String
    /// The number of valid bytes in the partial file.
    public let offset: Int64
    /// The strong entity tag of the representation that the bytes belong to.
    public let entityTag: String
    /// The number of bytes of the whole file; `nil` if the server did not say it.
    public let totalBytes: Int64?

    private enum CodingKeys: String, CodingKey {
        case url, destination, offset
        case partialFile = "partial_file"
        case entityTag = "entity_tag"
        case totalBytes = "total_bytes"
    }

    init(url: String, destination: String, partialFile: String, point: ResumePoint) {
        self.url = url
        self.destination = destination
        self.partialFile = partialFile
        offset = Int64(clamping: point.offset)
        entityTag = point.entityTag
        totalBytes = point.total.flatMap { Int64(exactly: $0) }
    }

    /// Decodes the state, whose keys are those of ``bytes``.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        url = try values.decode(String.self, forKey: .url)
        destination = try values.decode(String.self, forKey: .destination)
        partialFile = try values.decode(String.self, forKey: .partialFile)
        offset = try values.decode(Int64.self, forKey: .offset)
        entityTag = try values.decode(String.self, forKey: .entityTag)
        totalBytes = try values.decodeIfPresent(Int64.self, forKey: .totalBytes)
        guard offset > 0, ResumePoint.isStrong(entityTag) else {
            throw DecodingError.dataCorruptedError(
                forKey: .entityTag, in: values, debugDescription: "no download can be resumed by it")
        }
    }

    /// Decodes ``bytes``.
    ///
    /// - Returns: `nil` for anything else.
    public init?(_ bytes: [UInt8]) {
        guard let json = try? JSONReader.read(bytes), let url = json["url"]?.string,
            let destination = json["destination"]?.string, let partialFile = json["partial_file"]?.string,
            let offset = json["offset"]?.integer, offset > 0, let entityTag = json["entity_tag"]?.string,
            ResumePoint.isStrong(entityTag)
        else { return nil }
        self.url = url
        self.destination = destination
        self.partialFile = partialFile
        self.offset = offset
        self.entityTag = entityTag
        totalBytes = json["total_bytes"]?.integer
    }

    /// The state as a JSON object, for storage.
    public var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.object { object in
            object.field("url", url)
            object.field("destination", destination)
            object.field("partial_file", partialFile)
            object.field("offset", offset)
            object.field("entity_tag", entityTag)
            if let totalBytes { object.field("total_bytes", totalBytes) }
        }
        return writer.bytes
    }

    /// Removes the partial file and its record, when the download is not to be resumed. Blocks on disk I/O.
    public func discard() {
        unlink(partialFile)
        unlink(partialFile + ".record")
    }

    var point: ResumePoint {
        ResumePoint(
            offset: UInt64(clamping: offset), entityTag: entityTag, total: totalBytes.map { UInt64(clamping: $0) })
    }

    /// Whether the bytes received are still there. Looks at the file.
    var hasPart: Bool {
        var status = stat()
        return stat(partialFile, &status) == 0 && Int64(status.st_size) >= offset
    }
}
