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
                noteStore(error)
                letStoreRest()
                return
            } catch {
                // The provider token cannot be signed: nothing can be sent with this credential.
                do { try suspend(run.record, reason: "\(error)", at: now) } catch { noteStore(error) }
                halt(run)
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
                    commits.append(try settle(flight, of: run, at: now))
                }
                if !commits.isEmpty { try store.commit(commits, at: now) }
                storeAnswers()
            } catch {
                noteStore(error)
                letStoreRest()
                return
            }
            landed.removeAll(keepingCapacity: true)
            // The commits share the flights' buffers: gone before those are emptied.
            commits = []
            for flight in flights { recorded(flight, at: now) }
            // What was filtered as a whole lands at once: let the machines go on before looking for events.
            proceed()
        }
    }

    /// What a flight came to; the campaign is suspended first where its answers demand it, so that a crash in between
    /// leaves its pushes unrecorded rather than going on with a bad credential.
    private mutating func settle(_ flight: Flight, of run: CampaignRun, at now: Timestamp) throws -> LedgerCommit {
        if let settled = flight.settled { return settled }
        var settlement = Settlement(provider: run.route.provider, expiresAt: run.record.expiresAt, now: now)
        flight.settle(with: &settlement)
        let wasTripped = run.breaker.isTripped
        if run.breaker.answered(accepted: settlement.proven, badTokens: settlement.badTokens) {
            flight.holdBadTokens(settlement.badTokenReasons, until: now)
            if !wasTripped { try stopMostlyBadTokens(run, at: now) }
        }
        if let stop = settlement.stop {
            try suspend(run.record, reason: "\(stop.reason): \(stop.hint)", at: now)
            halt(run)
        }
        if let pause = settlement.pauseUntil { run.pausedUntil = max(run.pausedUntil ?? pause, pause) }
        if settlement.needsNewCredential { try renewCredential(run, flight, at: now) }
        let commit = flight.commit(for: run.record.key, retirements: settlement.retirements)
        flight.settled = commit
        return commit
    }

    private mutating func stopMostlyBadTokens(_ run: CampaignRun, at now: Timestamp) throws {
        try suspend(
            run.record,
            reason: "BadDeviceToken: nearly every token is refused from the start; the server or the key is of the "
                + "other environment: check `apns.server`, `apns.keyId` and the devices' environment",
            at: now)
        halt(run)
    }

    private mutating func renewCredential(_ run: CampaignRun, _ flight: Flight, at now: Timestamp) throws {
        guard let template = flight.template else { return }
        run.forgetTemplates()
        switch try run.route.provider.refused(template, at: now) {
        case .alreadyRenewed:
            break
        case .sign:
            log(.notice, "the provider token expired: a new one is signed", [("app", run.record.app.app)])
        case .clockSkew:
            try suspend(
                run.record,
                reason: "ExpiredProviderToken: a fresh provider token is called expired; check this machine's clock",
                at: now)
            halt(run)
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
