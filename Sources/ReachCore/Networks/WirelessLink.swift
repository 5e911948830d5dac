/// A Wi-Fi link at the moment when it was asked for.
package struct WirelessLink: Hashable, Sendable {
    package var network: WirelessNetwork
    /// Of the channel, in MHz.
    package var frequency: UInt32?
    /// The strength of the last received frame, in dBm.
    package var signal: Int8?
    /// Rates of the last frames, in kbit/s.
    package var sendRate: UInt64?
    package var receiveRate: UInt64?
    package var security: WirelessSecurity?

    package init(network: WirelessNetwork) { self.network = network }
}
