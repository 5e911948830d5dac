/// The times and limits of a ``SilenceMachine``.
extension SilenceMachine {
    /// Time between two readings of the counters. While no program sends data it doubles, up to the longest one.
    static let readingInterval: Duration = .seconds(1)
    static let longestReadingInterval: Duration = .seconds(4)
    /// The same after a timeout.
    static let suspiciousInterval: Duration = .milliseconds(250)
    /// For how long sockets are looked at after a timeout.
    static let suspicionTime: Duration = .seconds(2)
    /// A path on which a socket received something within this time is not silent.
    static let hearing: Duration = .milliseconds(900)
    /// Surveys take at most a fiftieth of a processor.
    static let surveyShare = 50
    /// The time for a test, and its most connections. TCP repeats the first of them after a second, so about 34 packets
    /// must be lost, or their answers: where three of four exchanges fail, that happens by chance in one of 17,000
    /// tests.
    static let testTime: Duration = .milliseconds(1500)
    static let longestTestTime: Duration = .seconds(4)
    /// On a path that is slower than that, a test lasts until its last connections had a round trip, up to this time.
    static let slowestTestTime: Duration = .seconds(10)
    static let testHandshakes = 26
    /// A test with fewer of them says nothing: this machine has no ports or descriptors for them, or slept meanwhile.
    static let leastHandshakes = 18
    /// The shortest time between two tests of a path, whoever is the reason.
    static let testGap: Duration = .seconds(2)
    /// The pause after a look at the sockets that the kernel did not answer, and how many such failures in a row end
    /// the watch.
    static let failurePause: Duration = .seconds(5)
    static let mostFailures = 5
    /// The shortest pause after a look that found more sockets than are read.
    static let tooManyPause: Duration = .seconds(30)
    /// For how long paths without a telling first hop are watched after the last segment with data was sent.
    static let activeTime: Duration = .seconds(60)
    /// The time for a connection by a silent path: less than a second, so that TCP does not repeat it.
    static let callTime: Duration = .milliseconds(900)
    static let longestCallTime: Duration = .seconds(5)
    /// The time between these connections is a part of the time since the path became silent, within these bounds.
    static let callShare = 30
    static let shortestCallGap: Duration = .seconds(2)
    static let longestCallGap: Duration = .seconds(30)
    /// Programs count as trying for this time after a timeout.
    static let tryingTime: Duration = .seconds(60)
}
