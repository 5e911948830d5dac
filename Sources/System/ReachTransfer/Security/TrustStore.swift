internal import CCurl
internal import Glibc
internal import ReachCore

/// The certificates whose signature is trusted: an X509_STORE of OpenSSL, freed with the value.
///
/// All connections that trust the same certificates share one: reading 140 certificates takes milliseconds. OpenSSL
/// counts references and locks the store itself, so it may be made on one thread and used on another.
final class TrustStore: @unchecked Sendable {
    private let store: OpaquePointer

    private init(owning store: OpaquePointer) {
        self.store = store
        // As in libcurl, a chain may end at any certificate of the list, not only at a self-signed one.
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN))
    }

    deinit { X509_STORE_free(store) }

    /// - Throws: `bad-request` if one of them is no certificate, with its place in the list.
    static func only(_ certificates: [CertificateData]) throws(TransferFailure) -> TrustStore {
        guard let store = X509_STORE_new() else { throw TransferFailure(.outOfMemory, "no memory for certificates") }
        let trust = TrustStore(owning: store)
        for (index, certificate) in certificates.enumerated() {
            guard let parsed = certificate.parsed() else {
                throw TransferFailure(.badRequest, "trusted certificate \(index + 1) is not a certificate in DER form")
            }
            X509_STORE_add_cert(store, parsed)
            X509_free(parsed)
        }
        return trust
    }

    /// Reads a file of PEM certificates. Blocks on the disk.
    static func file(_ path: String) -> TrustStore? {
        guard let store = X509_STORE_new() else { return nil }
        let trust = TrustStore(owning: store)
        return X509_STORE_load_file(store, path) == 1 ? trust : nil
    }

    /// Prepares the verification of a server's certificates.
    ///
    /// - Parameters:
    ///   - context: Must not outlive this object.
    ///   - certificates: The server's own first.
    /// - Returns: Whether OpenSSL could.
    func begin(_ context: OpaquePointer, own: OpaquePointer, certificates: OpaquePointer) -> Bool {
        X509_STORE_CTX_init(context, store, own, certificates) == 1
            && X509_STORE_CTX_set_default(context, "ssl_server") == 1
    }

    /// Trusts nothing; `nil` without memory.
    static func empty() -> TrustStore? { X509_STORE_new().map(TrustStore.init(owning:)) }

    /// Has the connections of a TLS context verified against these certificates.
    func apply(to context: OpaquePointer) {
        X509_STORE_up_ref(store)
        SSL_CTX_set_cert_store(context, store)
    }
}

extension CertificateData {
    /// The first certificate of a PEM text; `nil` if there is none.
    public init?(pem text: String) {
        guard let bytes = PEMText.bytes(of: "CERTIFICATE", in: text) else { return nil }
        self.init(bytes: bytes)
    }

    /// The SHA-256 of the certificate's public key, for a pin; `nil` if the bytes are no certificate.
    public var publicKeyDigest: SecurityPolicy.Digest? {
        guard let parsed = parsed() else { return nil }
        defer { X509_free(parsed) }
        return PeerCertificate.publicKeyDigest(parsed)
    }

    /// The caller frees the result.
    func parsed() -> OpaquePointer? {
        bytes.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return d2i_X509(nil, &start, buffer.count)
        }
    }
}

/// Texts between `BEGIN` and `END` (RFC 7468).
enum PEMText {
    /// - Returns: The bytes of the first one with this label; `nil` if there is none.
    static func bytes(of label: String, in text: String) -> [UInt8]? {
        let lines = text.textLines
        guard let start = lines.firstIndex(where: { $0 == "-----BEGIN \(label)-----" }),
            let end = lines[start...].firstIndex(where: { $0 == "-----END \(label)-----" }),
            let bytes = Base64.decode(Array(lines[(start + 1)..<end].joined().utf8)), !bytes.isEmpty
        else { return nil }
        return bytes
    }
}
