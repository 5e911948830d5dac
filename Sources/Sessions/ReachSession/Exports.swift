// Programs that send requests also use the values that requests consist of, the states of their lives, policies of
// trust, and the monitor of a session. One import covers them all.
@_exported public import HTTPTypes
@_exported public import ReachCore
@_exported public import ReachSerialization
@_exported public import ReachTransfer
@_exported public import Reachability
