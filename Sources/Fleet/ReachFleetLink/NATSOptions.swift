internal import CNats
internal import ReachCore

/// libnats' options, freed with the value.
struct NATSOptions: ~Copyable {
    let handle: OpaquePointer

    private init(owning handle: OpaquePointer) { self.handle = handle }

    deinit { natsOptions_Destroy(handle) }

    /// - Parameters:
    ///   - signals: The number of the handler for what happens to the connection.
    ///   - signer: The number of the key's signer, if there is a key.
    static func make(_ settings: NATSSettings, signals: UInt, signer: UInt?) throws(NATSError) -> NATSOptions {
        var made: OpaquePointer?
        try NATSError.check("options") { natsOptions_Create(&made) }
        guard let made else { throw NATSError(.failed, "options: none") }
        let options = NATSOptions(owning: made)
        try options.setServers(settings)
        try options.setTrust(settings)
        try options.setIdentity(settings.identity, signer: signer)
        try options.setBehaviour(settings)
        try options.setCallbacks(NATSCallbacks.pointer(signals))
        return options
    }

    private func setServers(_ settings: NATSSettings) throws(NATSError) {
        guard !settings.servers.isEmpty else { throw NATSError(.invalid, "no server is named") }
        var texts = settings.servers.map { server in server.description.utf8CString }
        try NATSError.check("servers") {
            var pointers: [UnsafePointer<CChar>?] = []
            return withPointers(&texts[...], &pointers) { list in
                natsOptions_SetServers(handle, &list, CInt(list.count))
            }
        }
        try NATSError.check("name") { natsOptions_SetName(handle, settings.name) }
        try NATSError.check("inbox") { natsOptions_SetCustomInboxPrefix(handle, settings.inbox) }
    }

    /// Calls `body` with a pointer to each text, all of which are valid until it returns.
    private func withPointers(
        _ texts: inout ArraySlice<ContiguousArray<CChar>>, _ pointers: inout [UnsafePointer<CChar>?],
        _ body: (inout [UnsafePointer<CChar>?]) -> natsStatus
    ) -> natsStatus {
        guard let text = texts.popFirst() else { return body(&pointers) }
        return text.withUnsafeBufferPointer { bytes in
            pointers.append(bytes.baseAddress)
            return withPointers(&texts, &pointers, body)
        }
    }

    private func setTrust(_ settings: NATSSettings) throws(NATSError) {
        guard settings.servers.contains(where: \.isEncrypted) else { return }
        try NATSError.check("TLS") { natsOptions_SetSecure(handle, true) }
        // libnats would look for the address in the certificate with its brackets.
        if settings.servers.count == 1, let address = settings.servers[0].bracketedAddress {
            try NATSError.check("TLS") { natsOptions_SetExpectedHostname(handle, address) }
        }
        if let file = settings.authorities {
            try readingFile("certificate authorities", file) { natsOptions_LoadCATrustedCertificates(handle, file) }
        }
        guard settings.certificate != nil || settings.certificateKey != nil else { return }
        guard let certificate = settings.certificate, let key = settings.certificateKey else {
            throw NATSError(.invalid, "a client's certificate and its key belong together; one is missing")
        }
        try readingFile("certificate", certificate) { natsOptions_LoadCertificatesChain(handle, certificate, key) }
    }

    /// Runs a call that reads a file. libnats' status for it would be that of a failed handshake.
    private func readingFile(_ what: String, _ path: String, _ body: () -> natsStatus) throws(NATSError) {
        guard body() == NATS_OK else {
            throw NATSError(.invalid, "\(what) '\(path)': \(NATSLibrary.lastError ?? "cannot be read")")
        }
    }

    private func setIdentity(_ identity: NATSIdentity, signer: UInt?) throws(NATSError) {
        switch identity {
        case .none: break
        case .key(let pair):
            try NATSError.check("key") {
                natsOptions_SetNKey(
                    handle, pair.publicKey, NATSCallbacks.onNonce, signer.flatMap(NATSCallbacks.pointer))
            }
        case .credentials, .token:
            let closure = signer.flatMap(NATSCallbacks.pointer)
            try NATSError.check("credentials") {
                natsOptions_SetUserCredentialsCallbacks(
                    handle, NATSCallbacks.onTokenWanted, closure, NATSCallbacks.onNonce, closure)
            }
        }
    }

    private func setBehaviour(_ settings: NATSSettings) throws(NATSError) {
        try NATSError.check("options") { natsOptions_SetPingInterval(handle, milliseconds(settings.pingInterval)) }
        try NATSError.check("options") { natsOptions_SetMaxPingsOut(handle, 2) }
        // libnats' own thread would wait a millisecond for more, with each request.
        try NATSError.check("options") { natsOptions_SetSendAsap(handle, true) }
        switch settings.reconnection {
        case .never:
            try NATSError.check("options") { natsOptions_SetAllowReconnect(handle, false) }
        case .always(let wait, let jitter):
            try NATSError.check("options") { natsOptions_SetMaxReconnect(handle, -1) }
            try NATSError.check("options") { natsOptions_SetReconnectWait(handle, milliseconds(wait)) }
            try NATSError.check("options") {
                natsOptions_SetReconnectJitter(handle, milliseconds(jitter), milliseconds(jitter))
            }
            // What is published while disconnected fails at once, so that nothing is sent twice later.
            try NATSError.check("options") { natsOptions_SetReconnectBufSize(handle, 0) }
        }
    }

    /// The longest wait for each server, also when libnats connects again.
    func setConnectLimit(_ limit: Duration) throws(NATSError) {
        try NATSError.check("options") { natsOptions_SetTimeout(handle, milliseconds(limit)) }
    }

    private func milliseconds(_ duration: Duration) -> Int64 { max(1, duration.nanoseconds / 1_000_000) }

    private func setCallbacks(_ closure: UnsafeMutableRawPointer?) throws(NATSError) {
        try NATSError.check("options") {
            natsOptions_SetDisconnectedCB(handle, NATSCallbacks.onDisconnect, closure)
        }
        try NATSError.check("options") { natsOptions_SetReconnectedCB(handle, NATSCallbacks.onReconnect, closure) }
        try NATSError.check("options") { natsOptions_SetClosedCB(handle, NATSCallbacks.onClose, closure) }
        try NATSError.check("options") { natsOptions_SetLameDuckModeCB(handle, NATSCallbacks.onLameDuck, closure) }
        try NATSError.check("options") { natsOptions_SetErrorHandler(handle, NATSCallbacks.onError, closure) }
    }
}
