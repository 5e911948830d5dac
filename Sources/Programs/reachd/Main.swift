/// The entry point. It has no code of its own: closures in it would be isolated to the main actor, and trap on other
/// threads.
@main enum Main {
    static func main() { ReachDaemonCommand.runAndExit() }
}

/// Keeps GnuTLS from initializing itself when libcurl is loaded, which takes 1.2 MiB: Debian's libcurl brings it along
/// for protocols that reach does not use. GnuTLS calls this function if a program exports it (`GNUTLS_SKIP_GLOBAL_INIT`
/// of gnutls.h), as the Makefile has the linker do. A library that uses GnuTLS may still initialize it itself.
@_cdecl("_gnutls_global_init_skip")
public func skipGlobalInitializationOfGnuTLS() -> CInt { 1 }
