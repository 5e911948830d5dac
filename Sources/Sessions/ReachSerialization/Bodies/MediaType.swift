/// The media types of files, by extension.
///
/// A short table of the types that programs upload, with the names that Apple's systems use. The machine's own list is
/// not read, since it differs from one machine to the next.
public enum MediaType {
    /// The media type of a file name's extension; `application/octet-stream` if unknown.
    public static func named(by fileName: String) -> String {
        guard let dot = fileName.unicodeScalars.lastIndex(of: "."), dot != fileName.startIndex else { return unknown }
        return table[fileName[fileName.unicodeScalars.index(after: dot)...].lowercased()] ?? unknown
    }

    private static let unknown = "application/octet-stream"

    private static let table: [String: String] = [
        "7z": "application/x-7z-compressed", "aac": "audio/aac", "avi": "video/x-msvideo", "bmp": "image/bmp",
        "bz2": "application/x-bzip2", "cer": "application/x-x509-ca-cert", "crt": "application/x-x509-ca-cert",
        "css": "text/css", "csv": "text/csv", "der": "application/x-x509-ca-cert",
        "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "gif": "image/gif",
        "gz": "application/gzip", "heic": "image/heic", "htm": "text/html", "html": "text/html",
        "ico": "image/x-icon", "ics": "text/calendar", "jpeg": "image/jpeg", "jpg": "image/jpeg",
        "js": "text/javascript", "json": "application/json", "log": "text/plain", "m4a": "audio/mp4",
        "md": "text/markdown", "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4",
        "mpeg": "video/mpeg", "mpg": "video/mpeg", "ogg": "audio/ogg", "p12": "application/x-pkcs12",
        "pcap": "application/vnd.tcpdump.pcap", "pdf": "application/pdf", "pem": "application/x-pem-file",
        "plist": "application/x-plist", "png": "image/png", "rtf": "application/rtf", "svg": "image/svg+xml",
        "tar": "application/x-tar", "tif": "image/tiff", "tiff": "image/tiff", "txt": "text/plain",
        "wav": "audio/wav", "webm": "video/webm", "webp": "image/webp", "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
        "xz": "application/x-xz", "yaml": "application/yaml", "yml": "application/yaml",
        "zip": "application/zip", "zst": "application/zstd",
    ]
}
