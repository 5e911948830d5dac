// Whoever sends requests also meets the values that they are made of, the states of their lives, policies of trust, and the
// monitor of a session: one import should do.
@_exported public import ReachCore
@_exported public import ReachSerialization
@_exported public import ReachTransfer
@_exported public import Reachability
