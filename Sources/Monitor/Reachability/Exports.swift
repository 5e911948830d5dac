// What the declarations of a monitor name, and no more: the other values of ReachCore are those of the command line,
// the daemon and the sessions.
@_exported public import struct ReachCore.AvailableInterface
@_exported public import enum ReachCore.Cause
@_exported public import enum ReachCore.Connectivity
@_exported public import struct ReachCore.HardwareAddress
@_exported public import struct ReachCore.HoldDown
@_exported public import typealias ReachCore.InterfaceIndex
@_exported public import struct ReachCore.IPAddress
@_exported public import struct ReachCore.IPPrefix
@_exported public import struct ReachCore.LineQuality
@_exported public import enum ReachCore.LinkClass
@_exported public import enum ReachCore.MeteredReason
@_exported public import enum ReachCore.NeighbourState
@_exported public import struct ReachCore.NetworkPath
@_exported public import enum ReachCore.NetworkReachabilityStatus
@_exported public import struct ReachCore.PortalSession
@_exported public import struct ReachCore.ReachabilityChange
@_exported public import struct ReachCore.ReachabilityState
@_exported public import enum ReachCore.ReachabilityStatus
@_exported public import enum ReachCore.Reason
@_exported public import struct ReachCore.RootCause
@_exported public import struct ReachCore.Target
@_exported public import struct ReachCore.TargetError
@_exported public import struct ReachCore.Timestamp
