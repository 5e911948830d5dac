import Foundation
import HTTPTypes
import ReachSerialization
import ReachTesting
import Testing

@Suite struct MultipartTests {
    private struct Broken: Error {}

    /// Reads a body in pieces of a given size, all of them full except the last.
    private func read(_ body: MultipartBody, pieces: Int = 65_536) throws -> [UInt8] {
        var reader = BodyReader(body)
        return try read(&reader, pieces: pieces)
    }

    private func read(_ body: WebRequest.Body) throws -> [UInt8] {
        var reader = BodyReader(body)
        return try read(&reader, pieces: 3)
    }

    private func read(_ reader: inout BodyReader, pieces: Int) throws -> [UInt8] {
        var whole: [UInt8] = []
        while true {
            var count = 0
            let piece = try [UInt8](unsafeUninitializedCapacity: pieces) { buffer, filled in
                count = try reader.read(into: UnsafeMutableRawBufferPointer(buffer))
                filled = count
            }
            whole += piece
            if count < pieces { return whole }
        }
    }

    private func text(_ form: MultipartForm) throws -> String {
        String(decoding: try read(MultipartBody(form)), as: UTF8.self)
    }

    @Test func `the layout is AFNetworking's: boundaries, line ends, headers`() throws {
        var form = MultipartForm()
        form.append(Array("one".utf8), name: "a")
        form.append(Array("two".utf8), name: "b", fileName: "b.txt", mediaType: "text/plain")
        var headers = HTTPFields()
        try headers.set("X-Header", "value")
        form.append(Array("three".utf8), headers: headers)
        let boundary = form.boundary
        #expect(
            try text(form) == """
                --\(boundary)\r
                Content-Disposition: form-data; name="a"\r
                \r
                one\r
                --\(boundary)\r
                Content-Disposition: form-data; name="b"; filename="b.txt"\r
                Content-Type: text/plain\r
                \r
                two\r
                --\(boundary)\r
                X-Header: value\r
                \r
                three\r
                --\(boundary)--\r\n
                """)
    }

    @Test func `a boundary is "Boundary+" and 16 hexadecimal digits, different each time`() {
        let boundaries = (0..<50).map { _ in MultipartForm().boundary }
        #expect(Set(boundaries).count == 50)
        for boundary in boundaries {
            #expect(boundary.hasPrefix("Boundary+") && boundary.utf8.count == 25)
            #expect(boundary.dropFirst(9).allSatisfy { "0123456789ABCDEF".contains($0) })
        }
    }

    @Test func `a request gets the body, its type and its length`() throws {
        let request = try FormRequestSerializer().multipartRequest(
            "POST", "http://example.com/",
            parameters: ["key": "value", "none": nil, "list": ["x", 2], "raw": .data([0, 255])]
        ) { $0.append(Array("data".utf8), name: "file", fileName: "f", mediaType: "text/plain") }
        guard case .multipart(let body) = request.body else {
            Issue.record("no multipart body")
            return
        }
        let bytes = try read(body)
        #expect(request.headers[.contentType] == "multipart/form-data; boundary=\(body.boundary)")
        #expect(request.headers[.contentLength] == String(bytes.count))
        #expect(request.contentLength == Int64(bytes.count) && body.contentLength == Int64(bytes.count))
        let text = String(decoding: bytes, as: UTF8.self)
        let names = text.split(separator: "form-data; ").dropFirst().map { String($0.prefix { $0 != "\r\n" }) }
        #expect(
            names == [
                #"name="key""#, #"name="list[]""#, #"name="list[]""#, #"name="none""#, #"name="raw""#,
                #"name="file"; filename="f""#,
            ])
        #expect(text.contains("name=\"none\"\r\n\r\n\r\n--"))
        #expect(bytes.contains(255))
    }

    @Test(arguments: ["GET", "HEAD", "get"])
    func `GET and HEAD cannot have a multipart body`(method: String) {
        #expect(throws: RequestSerializationError.bodyNotAllowed(method: method)) {
            try FormRequestSerializer().multipartRequest(method, "http://example.com/")
        }
    }

    @Test func `a form without parts gives a request without parameters`() throws {
        let request = try FormRequestSerializer().multipartRequest("POST", "http://example.com/")
        #expect(request.contentLength == 0 && request.headers[.contentLength] == nil)
        #expect(request.headers[.contentType] == "application/x-www-form-urlencoded")
    }

    @Test func `names cannot break out of their quotes`() throws {
        var form = MultipartForm()
        form.append([], name: "a\"; filename=\"x", fileName: "b\r\nX-Evil: 1", mediaType: "text/plain\r\nX: y")
        let text = try text(form)
        #expect(text.contains(#"name="a%22; filename=%22x"; filename="b%0D%0AX-Evil: 1""#))
        #expect(text.contains("Content-Type: text/plain%0D%0AX: y\r\n\r\n"))
    }

    @Test func `a part's names and headers keep all their bytes but line ends and NUL`() throws {
        var form = MultipartForm()
        form.append([], name: " a\u{1}\0 ")
        form.append([], headers: HTTPFields([HTTPField(name: .contentLocation, value: [0x63, 0xe9] as [UInt8])]))
        let bytes = try read(MultipartBody(form))
        #expect(bytes.firstRange(of: Array("name=\" a\u{1}%00 \"\r\n\r\n".utf8)) != nil)
        #expect(bytes.firstRange(of: Array("Content-Location: c".utf8) + [0xe9, 13, 10, 13, 10]) != nil)
    }

    @Test(arguments: [
        ("adn_0.cer", "application/x-x509-ca-cert"), ("a.JPG", "image/jpeg"), ("archive.tar.gz", "application/gzip"),
        ("a.json", "application/json"), ("a", "application/octet-stream"), (".png", "application/octet-stream"),
        ("a.", "application/octet-stream"), ("a.unknown", "application/octet-stream"),
    ])
    func `testThatAFHTTPRequestSerialiationSerializesMIMETypeCorrectly`(name: String, type: String) {
        #expect(MediaType.named(by: name) == type)
    }

    @Test func `a file part has the file's name and type, and is read while it is sent`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file("photo.png", "not yet")
        var form = MultipartForm()
        try form.append(file: path, name: "picture")
        try directory.file("photo.png", "changed")
        let text = try text(form)
        #expect(
            text.contains("name=\"picture\"; filename=\"photo.png\"\r\nContent-Type: image/png\r\n\r\nchanged\r\n--"))
    }

    @Test func `a file that grew is sent up to its announced length, one that shrank is an error`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file("a", "12345")
        var form = MultipartForm()
        try form.append(file: path, name: "a")
        let body = MultipartBody(form)
        try directory.file("a", "1234567890")
        #expect(try read(body).count == Int(body.contentLength))
        try directory.file("a", "123")
        let error = #expect(throws: BodyFileError.self) { try read(body) }
        #expect(error?.fault == .shrank(length: 5, found: 3) && error?.path == path)
    }

    @Test func `a pipe in place of a file does not block`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file("a", "12345")
        var form = MultipartForm()
        try form.append(file: path, name: "a")
        #expect(unlink(path) == 0 && mkfifo(path, 0o600) == 0)
        #expect(throws: BodyFileError.self) { try read(MultipartBody(form)) }
    }

    @Test func `a path that is no readable file is rejected before anything is sent`() throws {
        let directory = try TemporaryDirectory()
        var form = MultipartForm()
        let missing = #expect(throws: BodyFileError.self) { try form.append(file: directory.path + "/no", name: "a") }
        #expect(missing?.fault == .system(call: "stat", number: 2))
        let notAFile = #expect(throws: BodyFileError.self) { try form.append(file: directory.path, name: "a") }
        #expect(notAFile?.fault == .notAFile)
        let request = #expect(throws: RequestSerializationError.self) {
            try FormRequestSerializer().multipartRequest("POST", "http://a/") { form throws(BodyFileError) in
                try form.append(file: "/dev/null", name: "a")
            }
        }
        #expect(request?.word == "unreadable-file")
    }

    @Test func `a body reads the same in pieces of any size, and again after rewinding`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file("a.txt", String(repeating: "0123456789", count: 50))
        var form = MultipartForm()
        form.append(Array("x".utf8), name: "empty before")
        form.append([], name: "empty")
        try form.append(file: path, name: "file")
        try form.append(file: try directory.file("none", ""), name: "empty file")
        form.append(length: 7, name: "s", fileName: "s", mediaType: "text/plain") {
            var left = 7
            return { buffer in
                let count = min(buffer.count, left, 3)
                buffer.copyBytes(from: repeatElement(UInt8(ascii: "s"), count: count))
                left -= count
                return count
            }
        }
        let body = MultipartBody(form)
        let whole = try read(body)
        #expect(whole.count == Int(body.contentLength))
        for size in [1, 2, 3, 7, 64, 499, 4096] { #expect(try read(body, pieces: size) == whole) }
        var reader = BodyReader(body)
        for start in [0, 1, 40, 600, whole.count] {
            _ = try [UInt8](unsafeUninitializedCapacity: max(start, 1)) { buffer, count in
                count = try reader.read(
                    into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<start]))
            }
            reader.rewind()
            #expect(try read(&reader, pieces: 100) == whole)
            reader.rewind()
        }
    }

    @Test func `every kind of body can be read: none, bytes, a file`() throws {
        let directory = try TemporaryDirectory()
        var request = try WebRequest(method: "PUT", url: WebAddress("http://example.com/"))
        let none = try read(request.body)
        #expect(none.isEmpty && request.contentLength == nil)
        request.body = .bytes([1, 2, 3])
        let bytes = try read(request.body)
        #expect(bytes == [1, 2, 3])
        try request.setBody(file: try directory.file("upload", "contents"))
        let file = try read(request.body)
        #expect(file == Array("contents".utf8) && request.contentLength == 8)
        let missing = #expect(throws: BodyFileError.self) { try request.setBody(file: directory.path) }
        #expect(missing?.fault == .notAFile)
    }

    @Test func `a stream's errors are thrown, and a stream that ends early is an error`() throws {
        var form = MultipartForm()
        form.append(length: 5, name: "a", fileName: "a", mediaType: "text/plain") { throw Broken() }
        #expect(throws: Broken.self) { try read(MultipartBody(form)) }
        var short = MultipartForm()
        short.append(length: 5, name: "a", fileName: "a", mediaType: "text/plain") { { _ in 0 } }
        let error = #expect(throws: BodyFileError.self) { try read(MultipartBody(short)) }
        #expect(error?.fault == .shrank(length: 5, found: 0))
    }

    @Test func `a body can be written to a file`() throws {
        let directory = try TemporaryDirectory()
        var form = MultipartForm()
        form.append(Array(repeating: 7, count: 200_000), name: "a")
        let body = MultipartBody(form)
        let path = try directory.file("out", String(repeating: "old", count: 200_000))
        try body.write(toFile: path)
        let written = try Data(contentsOf: URL(fileURLWithPath: path))
        let whole = try read(body)
        #expect(Array(written) == whole)
        #expect(throws: BodyFileError.self) { try body.write(toFile: directory.path + "/no/such") }
    }
}
