/// The entry point, without code of its own: closures in it would be isolated to the main actor, and trap on other
/// threads.
@main enum Main {
    static func main() { DesktopCommand.runAndExit() }
}
