internal import Glibc

/// Makes certificates with the openssl program: signed by its own root, or self-signed.
package final class CertificateAuthority: Sendable {
    package static let isAvailable = TestProgram.path("openssl") != nil
    package static let whyNot = "openssl is not installed (apt-get install openssl)"

    /// A certificate and its key, as files in PEM form.
    package struct Identity: Sendable {
        package let certificatePath: String
        package let keyPath: String

        package var certificatePEM: String { text(certificatePath) }
        package var keyPEM: String { text(keyPath) }

        private func text(_ path: String) -> String {
            (try? ChildProcess.run(["cat", path])) ?? ""
        }
    }

    /// The validity period of a certificate.
    package enum Validity: String, Sendable {
        case now = "20200101000000Z 20490101000000Z"
        case expired = "20200101000000Z 20210101000000Z"
        case notYet = "20480101000000Z 20490101000000Z"
    }

    private let directory: TemporaryDirectory
    /// The root certificate.
    package let root: Identity

    package init(named name: String = "Test Root") throws {
        directory = try TemporaryDirectory()
        root = Identity(certificatePath: directory.path + "/root.pem", keyPath: directory.path + "/root.key")
        try Self.newKey(root.keyPath)
        try ChildProcess.run([
            "openssl", "req", "-x509", "-new", "-key", root.keyPath, "-days", "3650", "-subj", "/CN=\(name)",
            "-addext", "basicConstraints=critical,CA:TRUE", "-out", root.certificatePath,
        ])
        try directory.file("index.txt", "")
        try directory.file("serial", "1000\n")
        try directory.file(
            "ca.cnf",
            """
            [ca]
            default_ca = it
            [it]
            new_certs_dir = \(directory.path)
            database = \(directory.path)/index.txt
            serial = \(directory.path)/serial
            default_md = sha256
            unique_subject = no
            policy = any
            [any]
            commonName = supplied
            """)
    }

    /// A certificate that the root signs.
    ///
    /// - Parameters:
    ///   - file: The name of its files, different for each certificate.
    ///   - names: The entries of subjectAltName, such as `DNS:example.org` or `IP:127.0.0.1`; none for a certificate
    ///     without it.
    ///   - key: Another identity whose key is certified again; `nil` makes a new key.
    ///   - options: Of `openssl genpkey`, for the new key.
    package func issue(
        _ file: String, names: [String], validity: Validity = .now, key: Identity? = nil,
        _ options: [String] = usualKey
    ) throws -> Identity {
        let base = directory.path + "/" + file
        let identity = Identity(certificatePath: base + ".pem", keyPath: key?.keyPath ?? base + ".key")
        if key == nil { try Self.newKey(identity.keyPath, options) }
        let extensions = names.isEmpty ? "basicConstraints=CA:FALSE" : "subjectAltName=\(names.joined(separator: ","))"
        try directory.file(file + ".ext", extensions + "\n")
        try ChildProcess.run([
            "openssl", "req", "-new", "-key", identity.keyPath, "-subj", "/CN=\(file)", "-out", base + ".csr",
        ])
        let dates = validity.rawValue.split(separator: " ").map(String.init)
        try ChildProcess.run([
            "openssl", "ca", "-batch", "-notext", "-config", directory.path + "/ca.cnf", "-cert", root.certificatePath,
            "-keyfile", root.keyPath, "-startdate", dates[0], "-enddate", dates[1], "-extfile", base + ".ext", "-in",
            base + ".csr", "-out", identity.certificatePath,
        ])
        return identity
    }

    /// Revokes a certificate that the root signed.
    package func revoke(_ identity: Identity) throws {
        try ca("-revoke", identity.certificatePath)
    }

    /// The revocation list of the root as a PEM text, in force for a day.
    package func revocationList() throws -> String {
        try ca("-gencrl", "-crldays", "1", "-out", directory.path + "/list.pem")
        return try ChildProcess.run(["cat", directory.path + "/list.pem"])
    }

    private func ca(_ arguments: String...) throws {
        try ChildProcess.run(
            [
                "openssl", "ca", "-config", directory.path + "/ca.cnf", "-cert", root.certificatePath, "-keyfile",
                root.keyPath,
            ] + arguments)
    }

    /// A self-signed certificate.
    package func selfSigned(_ file: String, names: [String]) throws -> Identity {
        let base = directory.path + "/" + file
        let identity = Identity(certificatePath: base + ".pem", keyPath: base + ".key")
        try Self.newKey(identity.keyPath)
        try ChildProcess.run([
            "openssl", "req", "-x509", "-new", "-key", identity.keyPath, "-days", "3650", "-subj", "/CN=\(file)",
            "-addext", "subjectAltName=\(names.joined(separator: ","))", "-out", identity.certificatePath,
        ])
        return identity
    }

    /// A self-signed certificate, in one file with the root's: a server that the root never certified can send both.
    package func impostor(_ file: String, names: [String]) throws -> Identity {
        let own = try selfSigned(file, names: names)
        try directory.file(file + ".pem", own.certificatePEM + root.certificatePEM)
        return own
    }

    package static let usualKey = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1"]

    private static func newKey(_ path: String, _ options: [String] = usualKey) throws {
        try ChildProcess.run(["openssl", "genpkey", "-out", path] + options)
    }
}
