import ReachCore
import Testing

@Suite struct ByteCountTests {
    @Test(
        arguments: [
            (-1, "0 B"), (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (10_188, "9.9 KiB"),
            (10_240, "10 KiB"), (1_047_552, "1023 KiB"), (1_048_575, "1.0 MiB"), (1 << 30, "1.0 GiB"),
            (1 << 40, "1.0 TiB"), (1 << 50, "1.0 PiB"), (Int64.max, "8.0 EiB"),
        ] as [(Int64, String)])
    func `an amount of bytes has its unit and two digits or more`(bytes: Int64, text: String) {
        #expect(ByteCount.describe(bytes) == text)
    }
}
