import FoundationEssentials
import HTTPTypes
import ReachCore
import ReachSerialization
import Testing

/// Tests of requests and responses against those of HTTPTypes.
@Suite struct WebRequestTests {
    @Test(arguments: [
        ("http://example.com", "http", "example.com", "/"),
        ("https://example.com:8443/a/b?c=d#e", "https", "example.com:8443", "/a/b?c=d"),
        ("https://ann:secret@[2001:db8::1]/?q", "https", "[2001:db8::1]", "/?q"),
    ])
    func `the head has the URL's parts, without a password and a fragment`(
        url: String, scheme: String, authority: String, path: String
    ) throws {
        let head = WebRequest(method: .put, url: try WebAddress(url), headers: [.accept: "*/*"]).head
        #expect(head.method == .put && head.scheme == scheme && head.authority == authority && head.path == path)
        #expect(head.headerFields == [.accept: "*/*"])
    }

    @Test func `a request is made of a head, and gives it back`() throws {
        let head = HTTPRequest(
            method: .patch, scheme: "https", authority: "example.com:8443", path: "/a?b=c", headerFields: [.range: "x"])
        let request = try WebRequest(head, body: .bytes([1]))
        #expect(request.head == head && request.url.description == "https://example.com:8443/a?b=c")
        #expect(request.contentLength == 1)
    }

    @Test(arguments: [
        HTTPRequest(method: .get, scheme: nil, authority: "example.com", path: "/"),
        HTTPRequest(method: .get, scheme: "https", authority: nil, path: "/"),
        HTTPRequest(method: .get, scheme: "https", authority: "a b", path: "/"),
    ])
    func `a head without a URL is rejected`(head: HTTPRequest) {
        let error = #expect(throws: RequestSerializationError.self) { try WebRequest(head) }
        #expect(error?.word == "bad-url")
    }

    @Test(arguments: ["", "G T", "GET\r\n", "GÉT"])
    func `a method that could break out of the request line is rejected`(method: String) throws {
        let url = try WebAddress("http://example.com/")
        #expect(throws: RequestSerializationError.badMethod(method)) { try WebRequest(method: method, url: url) }
    }

    @Test func `URLs, requests and responses have Foundation's and HTTPTypes' forms, and come back from them`() throws {
        let url = try #require(URL(string: "https://example.com:8443/a%20b?c=d#e"))
        let address = try WebAddress(url)
        #expect(URL(address) == url && address.path == "/a%20b")
        #expect(throws: WebAddressError.self) { try WebAddress(#require(URL(string: "file:///etc/hosts"))) }
        let request = WebRequest(method: .put, url: address)
        #expect(HTTPRequest(request) == request.head)
        let response = WebResponse(url: address, head: HTTPResponse(status: .notFound))
        #expect(HTTPResponse(response).status == .notFound)
    }

    @Test func `a method keeps its case`() throws {
        #expect(try WebRequest(method: "get", url: WebAddress("http://a/")).head.method.rawValue == "get")
    }
}
