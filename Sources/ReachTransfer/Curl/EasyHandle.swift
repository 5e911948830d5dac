internal import CCurl
internal import ReachCore

/// A libcurl handle that attempts use one after the other: nearly all that they tell it is the same, and to tell it, and to make
/// a handle, takes longer than to build a request. Confined to the loop; one attempt has it at a time.
final class EasyHandle {
    /// What attempts must agree in to use a handle that has been told.
    struct Settings: Equatable {
        /// Another owner's request finds nothing of this one's.
        let owner: ConnectionOwner
        let method: String
        let connection: ConnectionUse
        let mayReuse: Bool
        let version: HTTPVersion
        let isSecure: Bool
        let validatesDomainName: Bool
    }

    let raw: UnsafeMutableRawPointer
    /// Whose callbacks come now. An attempt gives its handle back before it goes.
    unowned(unsafe) var attempt: Attempt?
    /// `nil` where an attempt told it more than these.
    var settings: Settings?
    /// Who is told when a socket of its connections is closed: these belong to a multi handle.
    private var closer: UnsafeMutableRawPointer?
    /// libcurl reports what it does with bytes that it does not use.
    var isVerbose = false
    private(set) var fields: [HTTPField]?
    private(set) var address: IPAddress?
    private var fieldList: UnsafeMutablePointer<curl_slist>?
    private var addressList: UnsafeMutablePointer<curl_slist>?
    private let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    init?() {
        guard let raw = curl_easy_init() else { return nil }
        self.raw = raw
        errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        attachErrorBuffer()
    }

    deinit {
        curl_easy_cleanup(raw)
        curl_slist_free_all(fieldList)
        curl_slist_free_all(addressList)
        errorBuffer.deallocate()
    }

    /// libcurl's sentence about the last failure; may be empty.
    var errorText: String { String(cString: errorBuffer) }

    /// Forgets all that it was told.
    func reset() {
        curl_easy_reset(raw)
        settings = nil
        closer = nil
        isVerbose = false
        fields = nil
        address = nil
        attachErrorBuffer()
    }

    /// Before the next attempt: libcurl writes a sentence only where something failed.
    func clearError() { errorBuffer[0] = 0 }

    private func attachErrorBuffer() { _ = reach_curl_set_pointer(raw, CURLOPT_ERRORBUFFER, errorBuffer) }

    /// - Parameter context: Must outlive the connections that this handle makes.
    func setCloser(_ function: @escaping curl_closesocket_callback, _ context: UnsafeMutableRawPointer) {
        guard context != closer else { return }
        closer = context
        _ = reach_curl_set_close_socket(raw, function)
        _ = reach_curl_set_pointer(raw, CURLOPT_CLOSESOCKETDATA, context)
    }

    /// Has these sent, and keeps their texts for libcurl.
    ///
    /// - Parameter key: What the lines follow from, where they follow from it alone.
    func setFields(_ lines: [String], for key: [HTTPField]?) -> CURLcode {
        let list = Self.list(lines)
        let code = reach_curl_set_list(raw, CURLOPT_HTTPHEADER, list)
        curl_slist_free_all(fieldList)
        fieldList = list
        fields = key
        return code
    }

    /// Has every connection made to this address, whatever the URL's host.
    ///
    /// - Parameter address: `nil` where the host is one.
    func setAddress(_ address: IPAddress?) -> CURLcode {
        guard address != self.address else { return CURLE_OK }
        let literal = address.map { $0.family == .ipv6 ? "[\($0)]" : "\($0)" }
        let list = literal.flatMap { Self.list(["::\($0):"]) }
        let code = reach_curl_set_list(raw, CURLOPT_CONNECT_TO, list)
        curl_slist_free_all(addressList)
        addressList = list
        self.address = address
        return code
    }

    private static func list(_ texts: [String]) -> UnsafeMutablePointer<curl_slist>? {
        var list: UnsafeMutablePointer<curl_slist>?
        for text in texts { list = curl_slist_append(list, text) ?? list }
        return list
    }
}

/// Handles that no attempt uses. Confined to the loop.
final class HandlePool {
    private var idle: [EasyHandle] = []
    /// As many as a busy queue runs at a time, at some 6 KiB each.
    private static let limit = 64

    /// - Returns: `nil` without memory.
    func take() -> EasyHandle? { idle.popLast() ?? EasyHandle() }

    /// Takes back one whose attempt ended well.
    func put(_ handle: EasyHandle) {
        if idle.count < Self.limit { idle.append(handle) }
    }

    func drop() { idle = [] }
}
