internal import CCurl
internal import ReachCore

/// A libcurl easy handle that attempts use one after the other: most of their options are the same, and setting them,
/// or making a handle, takes longer than building a request. Confined to the loop; one attempt has it at a time.
final class EasyHandle {
    /// The options that attempts must share to use a handle without a reset.
    struct Settings: Equatable {
        /// A request of another owner must find nothing of this one.
        let owner: ConnectionOwner
        let method: String
        let connection: ConnectionUse
        let mayReuse: Bool
        let mayArriveTwice: Bool
        let version: HTTPVersion
        let isSecure: Bool
        let decodes: Bool
        let asksForIdentity: Bool
    }

    let raw: UnsafeMutableRawPointer
    /// The attempt whose callbacks are called. It gives the handle back before it goes.
    unowned(unsafe) var attempt: Attempt?
    /// `nil` if more options than these are set.
    var settings: Settings?
    /// The context of the callback that closes its sockets: connections belong to a multi handle.
    private var closer: UnsafeMutableRawPointer?
    /// Whether debug output is on.
    var isVerbose = false
    private(set) var fields: [HeaderField]?
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

    /// libcurl's message about the last failure; may be empty.
    var errorText: String { String(cString: errorBuffer) }

    /// Resets all options.
    func reset() {
        curl_easy_reset(raw)
        settings = nil
        closer = nil
        isVerbose = false
        fields = nil
        address = nil
        attachErrorBuffer()
    }

    /// Clears the message, before the next attempt: libcurl writes one only where something failed.
    func clearError() { errorBuffer[0] = 0 }

    private func attachErrorBuffer() { _ = reach_curl_set_pointer(raw, CURLOPT_ERRORBUFFER, errorBuffer) }

    /// Sets the callback that closes sockets.
    ///
    /// - Parameter context: Must outlive the connections that this handle makes.
    func setCloser(_ function: @escaping curl_closesocket_callback, _ context: UnsafeMutableRawPointer) {
        guard context != closer else { return }
        closer = context
        _ = reach_curl_set_close_socket(raw, function)
        _ = reach_curl_set_pointer(raw, CURLOPT_CLOSESOCKETDATA, context)
    }

    func setURL(_ url: TransferURL) -> CURLcode { reach_curl_set_string(raw, CURLOPT_URL, url.description) }

    /// Sets the header lines, and keeps their texts for libcurl.
    ///
    /// - Parameter key: The fields that the lines are made of; `nil` if they depend on more.
    func setFields(_ lines: [String], for key: [HeaderField]?) -> CURLcode {
        let list = Self.list(lines)
        let code = reach_curl_set_list(raw, CURLOPT_HTTPHEADER, list)
        curl_slist_free_all(fieldList)
        fieldList = list
        fields = key
        return code
    }

    /// Sets the address to connect to, whatever the URL's host.
    ///
    /// - Parameter address: `nil` if the URL's host is an address.
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

/// Easy handles that no attempt uses. Confined to the loop.
final class HandlePool {
    private var idle: [EasyHandle] = []
    /// The attempts of a busy queue at a time; some 6 KiB each.
    private static let limit = 64

    /// - Returns: An idle handle, or a new one; `nil` without memory.
    func obtain() -> EasyHandle? { idle.popLast() ?? EasyHandle() }

    /// Keeps the handle of an attempt that ended without a failure.
    func recycle(_ handle: EasyHandle) {
        if idle.count < Self.limit { idle.append(handle) }
    }

    func removeAll() { idle = [] }
}
