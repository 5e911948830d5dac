internal import Glibc

extension DefaultHeaders {
    /// What this machine runs, for the user agent: `Linux 6.1.0-18-amd64; x86_64`.
    public static var systemName: String {
        var name = utsname()
        guard uname(&name) == 0 else { return "Linux" }
        return "\(text(name.sysname)) \(text(name.release)); \(text(name.machine))"
    }

    /// Of a C array, which Swift sees as a tuple.
    private static func text<Field>(_ field: Field) -> String {
        withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
