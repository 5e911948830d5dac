internal import CNats

/// The library that speaks NATS's protocol.
package enum NATSLibrary {
    /// The version of libnats, such as "3.4.1".
    package static var version: String { String(cString: nats_GetVersion()) }
}
