// Programs that send requests also use the values that requests consist of and policies of trust. One import covers
// them, and nothing that this library does not show: a monitor's states and changes need `import Reachability`.
@_exported public import HTTPTypes
@_exported public import struct ReachCore.ByteProgress
@_exported public import struct ReachCore.IPAddress
@_exported public import enum ReachCore.JSONValue
@_exported public import enum ReachCore.LinkClass
@_exported public import struct ReachCore.Timestamp
@_exported public import struct ReachCore.WebAddressError
@_exported public import ReachSerialization
@_exported public import ReachTransfer
@_exported public import enum Reachability.ReachabilityDelivery
@_exported public import class Reachability.ReachabilityMonitor
