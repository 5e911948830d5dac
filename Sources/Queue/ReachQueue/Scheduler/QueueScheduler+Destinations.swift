internal import ReachCore

/// Destinations: how many attempts each bears, and what it is spared after it failed. All but the number of attempts is
/// kept for each user apart.
extension QueueScheduler {
    mutating func destinationNumber(_ key: DestinationRecord.Key) -> Int32 {
        if let lastDestination, destinations[Int(lastDestination)].owner == key.owner,
            destinations[Int(lastDestination)].destination == key.destination
        {
            return lastDestination
        }
        if let number = destinationNumbers[key] {
            lastDestination = number
            return number
        }
        // Nothing is known against one that is new: it is approached slowly only after a resume.
        let site = siteNumber(key.destination)
        let record = DestinationRecord(key, site: site, limit: policy.destinationLimit, generation: generation)
        let number: Int32
        if let free = freeDestinations.popLast() {
            number = free
            destinations[Int(free)] = record
        } else {
            number = Int32(destinations.count)
            destinations.append(record)
            lines.grow(destinations: destinations.count)
        }
        destinationNumbers[key] = number
        sites[Int(site)].records.append(number)
        return number
    }

    private mutating func siteNumber(_ destination: Destination) -> Int32 {
        if let number = siteNumbers[destination] { return number }
        let number: Int32
        if let free = freeSites.popLast() {
            number = free
            sites[Int(free)] = DestinationSite(destination: destination)
        } else {
            number = Int32(sites.count)
            sites.append(DestinationSite(destination: destination))
        }
        siteNumbers[destination] = number
        return number
    }

    /// One of its requests is forgotten. What it did wrong is remembered for a while.
    mutating func leaveDestination(_ number: Int32) {
        destinations[Int(number)].count -= 1
        guard destinations[Int(number)].count == 0 else { return }
        if troubles[number] == nil { return removeDestination(number) }
        idleDestinations.append(number)
        let first = idleDestinations[0]
        if idleDestinations.count > 1024 || isForgivable(first) {
            idleDestinations.removeFirst()
            if destinations[Int(first)].count == 0, destinationNumbers[destinations[Int(first)].key] == first {
                removeDestination(first)
            }
        }
    }

    private mutating func isForgivable(_ number: Int32) -> Bool {
        guard destinations[Int(number)].count == 0, var trouble = troubles[number] else { return true }
        return trouble.isOver(at: now, policy)
    }

    private mutating func removeDestination(_ number: Int32) {
        troubles[number] = nil
        attentive.remove(number)
        destinationTimers.remove(number)
        destinationNumbers[destinations[Int(number)].key] = nil
        if lastDestination == number { lastDestination = nil }
        idleDestinations.removeAll { $0 == number }
        freeDestinations.append(number)
        let site = destinations[Int(number)].site
        sites[Int(site)].records.removeAll { $0 == number }
        guard sites[Int(site)].records.isEmpty else { return }
        siteNumbers[sites[Int(site)].destination] = nil
        lookupTimers.remove(site)
        freeSites.append(site)
    }

    /// An attempt is over: whoever waits for room at the destination stands in line again.
    mutating func leaveSlot(at destination: Int32) {
        let site = Int(destinations[Int(destination)].site)
        destinations[Int(destination)].running -= 1
        sites[site].running -= 1
        for record in sites[site].records { lines.resume(destination: record) }
    }

    // MARK: May it be sent to now?

    /// What keeps a line of requests from a destination, and until when; without a time, until an attempt ends.
    func block(of destination: Int32, group: Int32, isRetry: Bool) -> (blocker: Blocker, until: BootTime?)? {
        let record = destinations[Int(destination)]
        if let block = troubleBlock(of: destination, group: group, isRetry: isRetry) { return block }
        if record.running >= limit(of: record, in: group) { return (.concurrency, nil) }
        // Others may take all of its room; but one who has none there gets one more.
        if record.running > 0, sites[Int(record.site)].running >= Int32(policy.destinationLimit) {
            return (.concurrency, nil)
        }
        // Only until it has shown that it bears more than one at a time.
        guard now < spacedUntil, limit(of: record, in: group) < Int32(policy.destinationLimit),
            record.lastStart.nanoseconds != .min, case let next = record.lastStart + policy.destinationSpacing,
            next > now
        else { return nil }
        return (.rate, next)
    }

    private func troubleBlock(
        of destination: Int32, group: Int32, isRetry: Bool
    ) -> (blocker: Blocker, until: BootTime?)? {
        guard var trouble = troubles[destination] else { return nil }
        if trouble.askedUntil > now { return (.rate, trouble.askedUntil) }
        if trouble.notBefore > now { return (.rate, trouble.notBefore) }
        if trouble.networkNotBefore > now, trouble.epoch == epoch { return (.rate, trouble.networkNotBefore) }
        if let interface = groups[Int(group)].path?.interface, var breaker = trouble.breakers[interface] {
            breaker.advance(to: now)
            if !breaker.admits(running: Int(destinations[Int(destination)].running)) {
                if case .open(let until) = breaker.state { return (.breaker, until) }
                return (.breaker, nil)
            }
        }
        guard isRetry, !trouble.budget.allowsRetry(at: now, policy.budget) else { return nil }
        return (.budget, trouble.budget.allowsRetryFrom(now, policy.budget))
    }

    func limit(of record: DestinationRecord, in group: Int32) -> Int32 {
        record.generation < groups[Int(group)].generation ? 1 : record.limit
    }

    // MARK: What attempts show

    /// It answered: whatever it said, it is there.
    mutating func destinationAnswered(_ destination: Int32, by interface: String, isSuccess: Bool) {
        let record = destinations[Int(destination)]
        if record.limit < Int32(policy.destinationLimit) { destinations[Int(destination)].limit += 1 }
        guard var trouble = troubles.removeValue(forKey: destination) else { return }
        if isSuccess { trouble.budget.succeed(at: now, policy.budget) }
        let wasClosed = trouble.breakers[interface]?.isClosed ?? true
        trouble.breakers[interface]?.succeed(at: now, policy.breaker)
        let isClosed = trouble.breakers[interface]?.isClosed ?? true
        troubles[destination] = trouble
        guard !wasClosed, isClosed else { return }
        turn.changes.append(.closeBreaker(record.destination, interface: interface, owner: record.owner))
        publishBreaker(.breakerClosed, destination, interface)
    }

    /// It failed, on a path that works.
    ///
    /// - Parameter status: The status of its response; 0 without one.
    mutating func destinationFailed(
        _ destination: Int32, by interface: String, status: Int16 = 0, trips: Bool = false
    ) {
        var trouble = troubles.removeValue(forKey: destination) ?? DestinationTrouble(policy, at: now)
        trouble.lastFailure = status
        trouble.budget.fail(at: now, policy.budget)
        var breaker = trouble.breakers[interface] ?? CircuitBreaker()
        let step = breaker.step
        if trips {
            breaker.trip(at: now, policy.breaker, using: &random)
        } else {
            breaker.fail(at: now, policy.breaker, using: &random)
        }
        trouble.breakers[interface] = breaker
        let hasOpened = breaker.step > step
        if hasOpened { trouble.since = now }
        troubles[destination] = trouble
        guard hasOpened, case .open(let until) = breaker.state else { return }
        attentive.insert(destination)
        destinationTimers.setNoLater(destination, than: until)
        let stored = StoredBreaker(
            destination: destinations[Int(destination)].destination, interface: interface,
            owner: destinations[Int(destination)].owner, openUntil: moment(of: until), step: breaker.step)
        turn.changes.append(.openBreaker(stored))
        publishBreaker(.breakerOpen, destination, interface)
    }

    /// The server asked to be left alone until then.
    mutating func leaveAlone(_ destination: Int32, until time: BootTime) {
        var trouble = troubles.removeValue(forKey: destination) ?? DestinationTrouble(policy, at: now)
        trouble.since = now
        trouble.askedUntil = max(trouble.askedUntil, time)
        troubles[destination] = trouble
        destinationTimers.setNoLater(destination, than: time)
    }

    /// Nothing of this user is sent to it before that time.
    mutating func hold(off destination: Int32, until time: BootTime, isNetworkFailure: Bool) {
        var trouble = troubles.removeValue(forKey: destination) ?? DestinationTrouble(policy, at: now)
        trouble.since = now
        if isNetworkFailure {
            trouble.networkNotBefore = time
            trouble.epoch = epoch
            attentive.insert(destination)
        } else {
            trouble.notBefore = max(trouble.notBefore, time)
        }
        troubles[destination] = trouble
        destinationTimers.setNoLater(destination, than: time)
    }

    /// Its time may have come: those who wait for it stand in line again.
    mutating func destinationDue(_ destination: Int32) {
        lines.resume(destination: destination)
        guard attentive.contains(destination), let trouble = troubles[destination] else { return }
        let isHeldOff = trouble.networkNotBefore > now && trouble.epoch == epoch
        if !isHeldOff, trouble.breakers.values.allSatisfy(\.isClosed) { attentive.remove(destination) }
    }

    private mutating func publishBreaker(_ kind: QueueEvent.Kind, _ destination: Int32, _ interface: String) {
        var event = QueueEvent(kind, at: moment, epoch: epoch)
        event.destination = destinations[Int(destination)].destination
        event.owner = destinations[Int(destination)].owner
        event.interface = interface
        publish(event)
    }
}
