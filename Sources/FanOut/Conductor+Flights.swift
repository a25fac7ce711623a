// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore

/// Batches: out to the lanes, and back into the ledger.
extension Conductor {
    // MARK: Out

    /// Lets every campaign do what its machine says, until each waits.
    mutating func proceed() {
        guard !storeRests, !isClosing else { return }
        let now = clock()
        for run in runs.values.sorted(by: { $0.record.key < $1.record.key }) {
            if let pause = run.pausedUntil {
                guard now >= pause else { continue }
                run.pausedUntil = nil
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
        case .leaseShards(let limit):
            let shards = try store.leaseShards(
                run.record.key, owner: configuration.owner, until: now + .seconds(600), now: now, limit: limit)
            run.machine.leased(
                shards.map { CampaignMachine.ShardRange(number: $0.number, cursor: $0.cursor, last: $0.last) })
            return true
        case .readShard(let shard, let limit):
            let flight = hangar.popLast() ?? Flight()
            do {
                try store.readDevices(
                    run.record.app, after: shard.cursor, through: shard.last, limit: limit, into: &flight.devices)
                let isLast = flight.devices.count < limit
                try flight.fill(for: run, source: .shard(shard, isLast: isLast), tag: nextTag, at: now)
            } catch {
                hangar.append(flight)
                throw error
            }
            run.machine.shardBatchLeft(shard.number)
            send(flight, of: run, pin: shard.number)
            return true
        case .readRetries(let limit):
            let flight = hangar.popLast() ?? Flight()
            do {
                try store.readDueRetries(run.record.key, at: now, limit: limit, into: &flight.devices)
                if flight.devices.isEmpty {
                    hangar.append(flight)
                    run.machine.retryBatchEnded(next: try store.nextRetry(run.record.key))
                    return true
                }
                try flight.fill(for: run, source: .retries, tag: nextTag, at: now)
            } catch {
                hangar.append(flight)
                throw error
            }
            run.machine.retryBatchLeft()
            send(flight, of: run, pin: 0)
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

    private mutating func send(_ flight: Flight, of run: CampaignRun, pin: Int) {
        guard flight.requestCount > 0 else {
            landed.append(flight)
            return
        }
        flights[nextTag] = flight
        nextTag += 1
        run.add(requests: flight.requestCount, source: flight.source)
        for (environment, batch) in flight.batches {
            pools.submit(batch, of: run.route, to: environment, pin: pin)
        }
    }

    // MARK: Back

    /// Records all batches that are back, in one transaction.
    mutating func record() {
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
                    // First, so that a crash in between leaves its pushes unrecorded rather than going on with a bad
                    // credential.
                    if let reason = flight.suspension {
                        try suspend(run.record, reason: reason, at: now)
                        flight.suspension = nil
                    }
                }
                if !commits.isEmpty { try store.commit(commits, at: now) }
            } catch {
                return noteStore(error)
            }
            landed.removeAll(keepingCapacity: true)
            // The commits share the flights' buffers: gone before those are emptied.
            commits = []
            for flight in flights { recorded(flight, at: now) }
            // What was filtered as a whole lands at once: let the machines go on before looking for events.
            proceed()
        }
    }

    /// What a flight came to. Judged once, whatever the store says to it: answers that the breaker has counted, or that
    /// a credential was renewed for, must not count again when the store is tried again.
    private mutating func settle(_ flight: Flight, of run: CampaignRun, at now: Timestamp) -> LedgerCommit {
        var settlement = Settlement(provider: run.route.provider, expiresAt: run.record.expiresAt, now: now)
        flight.settle(with: &settlement)
        let wasTripped = run.breaker.isTripped
        if run.breaker.answered(accepted: settlement.proven, badTokens: settlement.badTokens) {
            flight.holdBadTokens(settlement.badTokenReasons, until: now)
            if !wasTripped { stop(run, for: Self.mostlyBadTokens, flight) }
        }
        if let stop = settlement.stop { self.stop(run, for: "\(stop.reason): \(stop.hint)", flight) }
        if let pause = settlement.pauseUntil { run.pausedUntil = max(run.pausedUntil ?? pause, pause) }
        if settlement.needsNewCredential { renewCredential(run, flight, at: now) }
        let commit = flight.commit(for: run.record.key, retirements: settlement.retirements)
        flight.settled = commit
        return commit
    }

    private static let mostlyBadTokens =
        "BadDeviceToken: nearly every token is refused from the start; the server or the key is of the "
        + "other environment: check `apns.server`, `apns.keyId` and the devices' environment"

    /// Sends nothing more at once, and has the campaign suspended before the flight is recorded. The first reason counts.
    private func stop(_ run: CampaignRun, for reason: String, _ flight: Flight) {
        flight.suspension = flight.suspension ?? reason
        halt(run)
    }

    private mutating func renewCredential(_ run: CampaignRun, _ flight: Flight, at now: Timestamp) {
        guard let template = flight.template else { return }
        run.forgetTemplates()
        do {
            switch try run.route.provider.refused(template, at: now) {
            case .alreadyRenewed:
                break
            case .sign:
                log(.notice, "the provider token expired: a new one is signed", [("app", run.record.app.app)])
            case .clockSkew:
                stop(
                    run,
                    for: "ExpiredProviderToken: a fresh provider token is called expired; check this machine's clock",
                    flight)
            }
        } catch {
            stop(run, for: "\(error)", flight)
        }
    }

    /// Tells the machine, and keeps the flight's memory for the next.
    private mutating func recorded(_ flight: Flight, at now: Timestamp) {
        if let run = flight.run {
            run.add(requests: -flight.requestCount, source: flight.source)
            let isRecorded = flight.settled != nil
            if isRecorded {
                run.pushes.add(flight.requestCount, at: now)
                run.devices.add(flight.devices.count, at: now)
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
