internal import Foundation
public import ReachSerialization

extension DefaultHeaders {
    /// A text in ASCII, for names in `User-Agent`: other scripts in Latin letters, without accents, as AFNetworking
    /// writes them by `CFStringTransform`. What has no Latin letters is left out.
    ///
    ///     RequestSessionOptions(program: DefaultHeaders.transliterated("Übersetzer"))
    public static func transliterated(_ text: String) -> String {
        let transform = StringTransform("Any-Latin; Latin-ASCII; [:^ASCII:] Remove")
        return text.applyingTransform(transform, reverse: false) ?? String(text.unicodeScalars.filter(\.isASCII))
    }
}
