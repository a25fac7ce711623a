// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import Telemetry

/// Batches: out to the lanes, and back into the ledger.
extension Conductor {
    // MARK: Out

    /// Lets each campaign have on its way what fills its connections, as far as there is room for all.
    func shareFlights() {
        let runs = Array(runs.values)
        let budget = FlightBudget(configuration.limits)
        let shares = budget.batches(streams: runs.map { pools.streams(of: $0.record.app) })
        for (run, batches) in zip(runs, shares) { run.machine.mayHaveOut(batches) }
    }

    /// Lets every campaign do what its machine says, until each waits.
    mutating func proceed() {
        guard !storeRests, !isClosing else { return }
        let now = clock()
        for run in runs.values.sorted(by: { $0.record.key < $1.record.key }) {
            if let pause = run.pausedUntil {
                guard now >= pause else { continue }
                run.pausedUntil = nil
                run.pauseReason = nil
                log(.notice, "the pause is over: sending goes on", [("campaign", run.record.id)])
            }
            do {
                while try step(run, at: now) { pulse.beat() }
            } catch let error as StoreError {
                return noteStore(error)
            } catch {
                // The provider token cannot be signed: nothing can be sent with this credential.
                halt(run)
                do {
                    try suspend(run.record, reason: "\(error)", at: now)
                } catch {
                    // The next look finds it running, without a run, and begins here again.
                    seenMark = nil
                    return noteStore(error)
                }
            }
        }
    }

    /// One action of the campaign's machine; false when it waits.
    private mutating func step(_ run: CampaignRun, at now: Timestamp) throws -> Bool {
        switch run.machine.next(at: now) {
        case .wait:
            return false
        case .endWave:
            try endWave(of: run, at: now)
            return true
        case .beginWave:
            try beginWave(of: run, at: now)
            return true
        case .leaseShards(let limit):
            let shards = try store.leaseShards(
                run.record.key, owner: configuration.owner, until: now + .seconds(600), now: now, limit: limit)
            run.machine.leased(
                shards.map {
                    CampaignMachine.ShardRange(number: $0.number, wave: $0.wave, cursor: $0.cursor, last: $0.last)
                })
            return true
        case .readShard(let shard, let most):
            let allowed = allowance(run, at: now)
            guard allowed > 0 else { return false }
            let limit = run.devices(for: allowed, limit: most)
            let flight = hangar.popLast() ?? Flight()
            do {
                try store.readDevices(
                    run.record.app, after: shard.cursor, through: shard.last, limit: limit, of: run.slice(shard),
                    into: &flight.devices)
                let isLast = flight.devices.count < limit
                try flight.fill(
                    for: run, source: .shard(shard, isLast: isLast), atMost: allowed, tag: nextTag, at: now)
            } catch {
                hangar.append(flight)
                throw error
            }
            run.machine.shardBatchLeft(shard.number)
            send(flight, of: run)
            return true
        case .readRetries(let most):
            let allowed = allowance(run, at: now)
            guard allowed > 0 else { return false }
            let limit = min(allowed, most)
            let flight = hangar.popLast() ?? Flight()
            do {
                try store.readDueRetries(run.record.key, at: now, limit: limit, waves: run.draw, into: &flight.devices)
                if flight.devices.isEmpty {
                    hangar.append(flight)
                    // What is due and yet not read is looked for later, not at once and again and again.
                    run.machine.retryBatchEnded(
                        next: try store.nextRetry(run.record.key).map { $0 > now ? $0 : now + .seconds(1) })
                    return true
                }
                try flight.fill(for: run, source: .retries, atMost: allowed, tag: nextTag, at: now)
            } catch {
                hangar.append(flight)
                throw error
            }
            run.machine.retryBatchLeft()
            send(flight, of: run)
            return true
        case .complete:
            if try store.completeIfDone(run.record.key, at: now) {
                runs[run.record.key] = nil
                log(.notice, "the campaign is complete", [("campaign", run.record.id)])
            } else {
                // Another relay holds shards, or the campaign's state has just been changed.
                run.machine.halt()
                seenMark = nil
            }
            return false
        }
    }

    private mutating func send(_ flight: Flight, of run: CampaignRun) {
        took(flight.requestCount, by: run)
        run.noteRead(flight.devices.count, pushes: flight.requestCount)
        guard flight.requestCount > 0 else {
            landed.append(flight)
            return
        }
        flights[nextTag] = flight
        nextTag += 1
        run.add(requests: flight.requestCount, source: flight.source)
        noteProbe(flight, of: run)
        for (environment, batch) in flight.batches {
            pools.submit(batch, of: run.route, to: environment, pin: flight.pin)
        }
    }

    /// Sends what a flight's own environment called bad tokens to the other one, where the app wants that.
    ///
    /// - Returns: whether the flight is on its way again.
    mutating func sendSecondTries(_ flight: Flight) -> Bool {
        guard let run = flight.run, run.route.triesOtherEnvironment, !run.machine.isHalted, !flight.hasSecondTries
        else { return false }
        let (tick, now) = (ContinuousClock.now, clock())
        // The pause is the credential's, whichever environment it is shown to.
        if run.isPaused(at: now) || flight.wantsPause {
            flight.isDeniedSecondTries = true
            return false
        }
        let batches: [(PushEnvironment, RequestBatch)]
        do {
            batches = try flight.addSecondTries(for: run, at: now) { environment in
                let isAwake = secondTriesRest[secondTries(run.record.app, environment)].map { $0 <= tick } ?? true
                // A service that is held is spared these too; no probe is made of what nobody waits for.
                return isAwake && !isHeld(run.record.app, environment)
            }
        } catch {
            // No provider token: the first answers stand, and the next batch tells why.
            return false
        }
        for (environment, batch) in batches {
            // Nobody asked the bucket: later pushes make up for them.
            took(batch.count, by: run)
            pools.submit(batch, of: run.route, to: environment, pin: flight.pin, isSecondTry: true)
        }
        return !batches.isEmpty
    }

    // MARK: Back

    /// Records all batches that are back, in one transaction, and then those that land meanwhile because they were filtered as
    /// a whole: for a while only, since an audience in which everybody is filtered would keep the thread from its events
    /// until the last device.
    mutating func record() {
        let end = ContinuousClock.now + configuration.recordingTurn
        while !landed.isEmpty {
            if storeRests { return }
            pulse.beat()
            let now = clock()
            let flights = landed
            var commits: [LedgerCommit] = []
            commits.reserveCapacity(flights.count)
            do {
                for flight in flights {
                    guard let run = flight.run, !flight.isUntouched else { continue }
                    commits.append(flight.settled ?? settle(flight, of: run, at: now))
                    if let recalled = flight.recalled { commits.append(recalled) }
                    // First, so that a crash in between leaves its pushes unrecorded rather than going on with a bad
                    // credential.
                    if let reason = flight.suspension {
                        try suspend(run.record, reason: reason, at: now)
                        flight.suspension = nil
                    }
                }
                do {
                    if !commits.isEmpty { try store.commit(commits, at: now) }
                    landed.removeAll(keepingCapacity: true)
                    // The commits share the flights' buffers: gone before those are emptied.
                    commits = []
                    for flight in flights { recorded(flight, at: now) }
                } catch let error as StoreError where error.code == .conflict {
                    try recordApart(flights, at: now)
                }
            } catch {
                return noteStore(error)
            }
            proceed()
            if ContinuousClock.now >= end { return }
        }
    }

    /// Tells the machine, and keeps the flight's memory for the next.
    mutating func recorded(_ flight: Flight, at now: Timestamp) {
        if let run = flight.run {
            run.add(requests: -flight.requestCount, source: flight.source)
            noteLanding(flight, of: run, at: now)
            let isRecorded = flight.settled != nil
            if isRecorded {
                run.pushes.add(flight.requestCount, at: now)
                run.devices.add(flight.devices.count, at: now)
                flight.count(into: &tallies[run.record.app, default: PushTally()])
                if run.route.pace != nil { took(flight.resends, by: run) }
            }
            switch flight.source {
            case .shard(let shard, let isLast):
                if let settled = flight.settled {
                    run.machine.shardBatchRecorded(shard.number, cursor: settled.cursor, isDone: isLast)
                    if let retry = flight.earliestRetry { run.machine.retryScheduled(at: retry) }
                } else {
                    run.machine.shardBatchReturned(shard.number)
                }
            case .retries:
                do {
                    run.machine.retryBatchEnded(next: try store.nextRetry(run.record.key))
                } catch {
                    noteStore(error)
                    run.machine.retryBatchEnded(next: now + .seconds(1))
                }
            }
            if run.machine.isStopped {
                runs[run.record.key] = nil
                // It may be running again already.
                seenMark = nil
            }
        }
        flight.land()
        hangar.append(flight)
    }
}
