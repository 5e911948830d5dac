public import FoundationEssentials

extension MultipartForm {
    /// Appends a named value.
    public mutating func append(_ data: Data, name: String) { append(Array(data), name: name) }

    /// Appends bytes as the content of a file.
    public mutating func append(_ data: Data, name: String, fileName: String, mediaType: String) {
        append(Array(data), name: name, fileName: fileName, mediaType: mediaType)
    }

    /// Appends a file. Its length is read now, its content while the body is sent.
    ///
    /// - Parameters:
    ///   - file: The URL of a readable regular file. Its current length is sent.
    ///   - name: The part's name.
    ///   - fileName: The file name for the server; by default the last component of the path.
    ///   - mediaType: The part's content type; by default that of the file name's extension, see ``MediaType``.
    public mutating func append(
        file: URL, name: String, fileName: String? = nil, mediaType: String? = nil
    ) throws(BodyFileError) {
        try append(file: file.path(percentEncoded: false), name: name, fileName: fileName, mediaType: mediaType)
    }
}
