internal import Glibc
internal import ReachCore
internal import ReachTransfer

/// Where a download was interrupted: what ``RequestSession/download(resuming:headers:when:options:completion:)`` goes on
/// with, in this process or a later one.
///
/// What was there already stays in a file beside the destination. It is resumed by Range and If-Range (RFC 9110, 13.1.5):
/// a server whose file has changed, or that does not know ranges, sends all of it anew.
public struct ResumeData: Hashable, Sendable {
    /// What is downloaded.
    public let url: String
    /// Where it goes when it is whole.
    public let destination: String
    /// The file with what is there already. A record of how far it is stands beside it, with `.record` after its name.
    public let partialFile: String
    /// So many of its bytes are good.
    public let offset: Int64
    /// The strong entity tag of what they belong to.
    public let entityTag: String

    init(url: String, destination: String, partialFile: String, point: ResumePoint) {
        self.url = url
        self.destination = destination
        self.partialFile = partialFile
        offset = Int64(clamping: point.offset)
        entityTag = point.entityTag
    }

    /// Reads what ``bytes`` wrote.
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
    }

    /// To be kept somewhere: a JSON object.
    public var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.object { object in
            object.field("url", url)
            object.field("destination", destination)
            object.field("partial_file", partialFile)
            object.field("offset", offset)
            object.field("entity_tag", entityTag)
        }
        return writer.bytes
    }

    /// Removes what is there already: for who does not want to go on. Waits for the disk.
    public func discard() {
        unlink(partialFile)
        unlink(partialFile + ".record")
    }

    var point: ResumePoint { ResumePoint(offset: UInt64(clamping: offset), entityTag: entityTag) }
}
