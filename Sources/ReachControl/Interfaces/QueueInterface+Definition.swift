extension QueueInterface {
    /// What is in io.reach.Queue.varlink beside this file: a string, since a program that is linked statically has no
    /// place to find a resource in. A test compares the two.
    package static let definition = """
        # A queue of HTTP requests that are sent when the network allows, and survive restarts of programs and of the machine.
        #
        # Everybody has a queue: the user of the caller, as the kernel names it, owns what it adds, and sees and touches nothing of
        # others; a request of somebody else is one that is not there. Root and the daemon's own user see and touch everything.
        # The objects are those that `reach queue ... --json` prints; reach-events(7) explains every key. Later versions may add
        # keys and words: ignore those that you do not know.
        interface io.reach.Queue

        # A header of HTTP. Of a request, those about the connection (Content-Length, Transfer-Encoding, Connection, Keep-Alive,
        # Upgrade, TE, Trailer, Expect, Proxy-*, and a Host that is none) are invalid.
        type Header (
          name: string,
          value: string
        )

        # Statuses from one to another, both included.
        type StatusRange (
          first: int,
          last: int
        )

        # A request as it stands. Times are in UTC as RFC 3339 has them.
        #   state             "held", "waiting", "backoff", "ready", "running", "lingering", "done", "dead" or "cancelled"
        #   reason            a word that tells why it is dead or cancelled
        #   blockers          words that tell what keeps it from starting
        #   deadline          when it dies if it has not been sent
        #   not_before        when it is tried again, after a failure
        #   over              when it ended
        #   attempts          those that failed and count; network_failures do not, and tries counts all
        #   progress          of the attempt that is being made
        #   status            what the server answered in the end, and answer_bytes the length of its body
        type Request (
          v: int,
          type: string,
          time: string,
          boottime_ns: int,
          id: int,
          user: int,
          state: string,
          reason: ?string,
          blockers: []string,
          method: string,
          url: string,
          when: string,
          priority: string,
          order: ?string,
          key: ?string,
          idempotency_key: ?string,
          body_bytes: int,
          created: string,
          deadline: string,
          not_before: ?string,
          over: ?string,
          attempts: int,
          network_failures: int,
          tries: int,
          progress: ?Progress,
          status: ?int,
          answer_bytes: ?int
        )

        # How far an attempt is, in bytes of bodies; null where there is none, or the server does not say.
        type Progress (
          interface: string,
          began: string,
          began_boottime_ns: int,
          sent: int,
          to_send: ?int,
          received: int,
          to_receive: ?int
        )

        # What came of adding a request. If kept, one with the same key was there and stays, and id is that one's.
        type Receipt (
          v: int,
          type: string,
          time: string,
          boottime_ns: int,
          id: int,
          kept: bool
        )

        # Why a request is not running, and what would let it. There are no reasons if it runs, is about to, or is over.
        #   interface  the one it would go by, or goes by
        type Explanation (
          v: int,
          type: string,
          time: string,
          boottime_ns: int,
          request: Request,
          interface: ?string,
          reasons: []Reason
        )

        # One thing that keeps a request from starting.
        #   blocker  a word, of the request's blockers
        #   until    when it ends by itself, where that is known
        #   text     English sentences for people: what it is; and in remedy what would end it
        type Reason (
          blocker: string,
          since: string,
          since_boottime_ns: int,
          until: ?string,
          until_boottime_ns: ?int,
          text: string,
          remedy: string
        )

        # What the server answered to a request that is over.
        #   body_bytes  the length of the whole body
        #   offset      where data begins in it
        #   data        in base64
        type Answer (
          v: int,
          type: string,
          time: string,
          boottime_ns: int,
          id: int,
          state: string,
          status: int,
          headers: []Header,
          body_bytes: int,
          offset: int,
          data: string
        )

        # Something that happened. seq goes up by one with every event of a connection.
        # Of the type "queue", what it was is in event:
        #   "watching"      the first event, and the one after "dropped": from here on nothing is missed, and what is now can be asked
        #   "progress"      how far the attempt is; only if one request is watched, and at most ten times a second
        #   "queued", "started", "retrying", "waiting", "resumed", "suspended", "released", "interrupted", "done", "dead",
        #   "cancelled"     what became of the request
        #   "opened", "closed", "breaker-open", "breaker-closed", "degraded", "recovered", "storage-reset"
        #                   of the queue as a whole
        # Of the type "dropped": count events were not sent, since they were not read fast enough.
        type Event (
          v: int,
          type: string,
          seq: int,
          time: string,
          boottime_ns: int,
          event: ?string,
          epoch: ?int,
          id: ?int,
          user: ?int,
          attempt: ?int,
          reason: ?string,
          status: ?int,
          interface: ?string,
          blockers: ?[]string,
          not_before: ?string,
          destination: ?string,
          when: ?string,
          count: ?int,
          began: ?string,
          began_boottime_ns: ?int,
          sent: ?int,
          to_send: ?int,
          received: ?int,
          to_receive: ?int
        )

        # Takes a request in. The answer comes when it is safe on disk.
        #   method          GET, or POST with a body, where none is given
        #   body            in base64, up to 524288 bytes of it: a message has at most 1048576 bytes; a larger one is uploaded first
        #   upload          the name that Upload gave to a body, instead of body
        #   when            a condition of reach(1): "any", or terms with commas between them, as "unmetered, not wwan"
        #   priority        "urgent", "high", "normal" or "low"
        #   expires_ms      how long it may wait before it dies
        #   idempotency_key the value of the header Idempotency-Key; one is made for what may not be repeated
        #   order           requests with the same one go one after the other; with depends, it dies if the one before it dies
        #   key             names the piece of work; mode says what becomes of others with the same key: "keep", "replace",
        #                   "append", "append-or-replace", "coalesce"
        #   strict          an attempt is ended when its path no longer satisfies when, although it still works
        #   accept          statuses that are success, up to 32 ranges from 100 to 599; 200 to 299 if none are given
        method Add(
          url: string,
          method: ?string,
          headers: ?[]Header,
          body: ?string,
          upload: ?string,
          when: ?string,
          priority: ?string,
          expires_ms: ?int,
          idempotency_key: ?string,
          order: ?string,
          depends: ?bool,
          key: ?string,
          mode: ?string,
          max_attempts: ?int,
          strict: ?bool,
          accept: ?[]StatusRange
        ) -> (receipt: Receipt)

        # Takes a piece of a body that is too large for one message, in base64, up to 524288 bytes of it. Without a name it begins
        # a body. What is not used by Add is thrown away 300 seconds after its last piece.
        method Upload(name: ?string, data: string) -> (name: string, bytes: int)

        # Requests by their numbers, from the lowest: those on their way, and those that are over and still kept.
        #   states  those that are wanted; all if none are given
        #   after   only those with larger numbers: next of the page before, which is null after the last
        #   limit   at most so many, and at most 256; 100 if it is not given. There may be fewer, as a message has room for
        #   count   how many of the caller's requests are not over; for root, of everybody's
        method List(states: ?[]string, after: ?int, limit: ?int) -> (requests: []Request, next: ?int, count: int)

        # A request as it stands.
        method Show(id: int) -> (request: Request)

        # Why it is not running, and what would let it.
        method Explain(id: int) -> (explanation: Explanation)

        # Keeps a request from starting, or all of the caller's: of root, everybody's. An attempt that can be repeated is ended.
        method Hold(id: ?int, all: ?bool) -> ()

        # Undoes Hold: of one request, or of all.
        method Release(id: ?int, all: ?bool) -> ()

        # Ends a request for good.
        method Cancel(id: int) -> ()

        # Sends a dead request again, or all; with reason, all that died of it. Tells how many they are.
        method Retry(id: ?int, all: ?bool, reason: ?string) -> (count: int)

        # What was answered to a request that is over: up to length bytes of the body, and at most 524288, from offset on.
        method Result(id: int, offset: ?int, length: ?int) -> (answer: Answer)

        # Everything that happens from now on: to one request, or to all that the caller may see. Call it with "more". Further
        # calls on the same connection are not answered.
        method Watch(id: ?int) -> (event: Event)

        # This part of the request is wrong, for this reason: change it.
        error BadRequest (parameter: string, reason: string)

        # There is no room now: try again later. The reason is "queue-full", "user-limit" or "storage".
        #   limit    the key in reach.toml of the limit that would be passed, where there is one
        #   allowed  requests or bytes that are allowed, and wanted what there would be
        error QueueFull (reason: string, limit: ?string, allowed: ?int, wanted: ?int)

        # There is no such request, or none of the caller's.
        error NotFound (id: int)

        # It is over: nothing was changed.
        error AlreadyOver (id: int)

        # Only a dead request can be sent again.
        error NotDead (id: int)

        # It is not over, or nothing was answered to it, or what was is no longer kept.
        error NoAnswer (id: int)

        # The caller may not do that, for this reason.
        error NotPermitted (reason: string)

        # The user watches so many different requests already.
        error TooManyWatches (limit: int)

        # This daemon cannot do that, for this reason.
        error NotAvailable (reason: string)

        """
}
