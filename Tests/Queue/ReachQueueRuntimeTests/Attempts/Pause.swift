import Glibc

/// A time that is what the test is about: how long a link is away, how long a server takes.
func usleepSeconds(_ seconds: Double) { usleep(UInt32(seconds * 1_000_000)) }
