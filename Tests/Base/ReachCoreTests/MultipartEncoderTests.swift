import ReachCore
import Testing

@Suite struct MultipartEncoderTests {
    @Test func `parts stand between boundaries, and only the first one begins without a line's end`() {
        var encoder = MultipartEncoder(boundary: "b")
        let heads = [
            encoder.head([("A", Array("1".utf8)), ("B", Array("2".utf8))]), encoder.head([]),
            encoder.head([("C", [])]), encoder.end,
        ]
        #expect(
            heads.map { String(decoding: $0, as: UTF8.self) } == [
                "--b\r\nA: 1\r\nB: 2\r\n\r\n", "\r\n--b\r\n\r\n", "\r\n--b\r\nC: \r\n\r\n", "\r\n--b--\r\n",
            ])
    }

    @Test func `no name of a form's field can end it`() {
        #expect(
            MultipartEncoder.disposition(name: "a\"\r\n\u{0}b", fileName: nil)
                == "form-data; name=\"a%22%0D%0A%00b\"")
        #expect(
            MultipartEncoder.disposition(name: "ä%", fileName: "\"c\"")
                == "form-data; name=\"ä%\"; filename=\"%22c%22\"")
    }
}
