/// The entry point. Closures written here would be bound to the main actor and trap on any other thread.
@main enum Main {
    static func main() { FleetCommand.runAndExit() }
}
