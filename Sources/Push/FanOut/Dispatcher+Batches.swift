// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Telemetry

/// Batches: out to the lanes, and back into the ledger.
extension Dispatcher {
    // MARK: Out

    /// Lets every campaign and service act as its machine decides, until each waits.
    ///
    /// - Returns: how long until one of them has something to do without an event.
    mutating func proceed() -> Duration {
        guard !isStopping, term != nil else { return .seconds(3600) }
        // Batches that wait in a lane are called back when the app's hours end, even while the store rests.
        var pause = lookAtHours()
        guard !storeRests else { return pause }
        for run in runs.inTurn {
            do {
                for service in run.services where !run.hours.isAsleep {
                    do {
                        pause = min(pause, try send(run, to: service))
                    } catch  where !(error is StoreError) {
                        // The credential cannot be used: nothing can be sent with it.
                        stop(run, service, .credential, for: reason(for: error, service, run))
                    }
                }
                // Nothing is decided either for a campaign that another relay may own.
                guard isTrusted else { return .zero }
                pause = min(pause, try advance(run))
                try writeSuspensions()
            } catch {
                runs.lastToFail = run.record.key
                noteStore(error)
                return pause
            }
        }
        return pause
    }

    /// Carries out the decisions of the service's machine, until it waits.
    private mutating func send(_ run: CampaignRun, to service: PushService) throws -> Duration {
        let store = store
        while run.lifecycle.isSending, isTrusted {
            pulse.beat()
            let now = now
            let isProbe = limits.isProbing(service.limited)
            switch service.machine.next(
                at: now, isProbe: isProbe, allowance: { allowance(of: service, at: now) })
            {
            case .wait(let time):
                return time ?? .seconds(3600)
            case .endPause:
                service.machine.pauseEnded()
                log(.notice, "the pause is over: sending goes on", [("campaign", run.record.id)])
            case .openShards:
                service.machine.opened(
                    try store.openShards(run.record.key, channel: service.key.channel))
            case .readShard(let shard, let devices, let pushes):
                if let wait = try services.waitForCredential(of: service, run) { return wait }
                try send(to: service, of: run) { batch, tag in
                    try store.readDevices(
                        run.record.app, channel: service.key.channel, after: shard.cursor, through: shard.last,
                        limit: devices, of: run.slice(shard),
                        without: run.record.canary == nil && run.draw == nil ? nil : run.record.key,
                        into: &batch.devices)
                    let isLast = batch.devices.count < devices
                    try batch.fill(
                        for: run, service, source: .shard(shard, isLast: isLast), atMost: pushes, tag: tag, at: now.wall
                    )
                }
            case .readRetries(let pushes):
                if let wait = try services.waitForCredential(of: service, run) { return wait }
                try send(to: service, of: run) { batch, tag in
                    try store.readDueRetries(
                        run.record.key, channel: service.key.channel, at: now.wall, limit: pushes,
                        waves: run.draw, into: &batch.devices)
                    guard !batch.devices.isEmpty else { return }
                    try batch.fill(for: run, service, source: .retries, atMost: pushes, tag: tag, at: now.wall)
                }
            }
        }
        return .seconds(3600)
    }

    /// Ends the judging of tokens that were last called dead or moved: all answers are in, so no later one can excuse them. If
    /// another campaign of the app is still being sent, its answers decide.
    private mutating func retireUnregistered(of run: CampaignRun, at now: Timestamp) throws {
        guard runs.others(than: run).isEmpty else { return }
        // A service that comes up twice has nothing left the second time.
        for service in run.services.flatMap({ services.judging($0, for: run) }) {
            var commit = LedgerCommit(
                campaign: run.record.key, shard: nil, cursor: 0, shardDone: false, rows: [], devices: DeviceRows(),
                retirements: service.tokens.unregistered.end())
            commit.corrections = service.corrections(of: service.tokens.moved.end())
            commit.doubts = service.tokens.changes(at: service.key.channel)
            guard !commit.retirements.isEmpty || !commit.corrections.isEmpty || !commit.doubts.isEmpty else { continue }
            do {
                _ = try run.commit([commit], ofBatches: 1, to: store, at: now)
            } catch {
                // The commit may have been recorded: the campaign begins again, and asks the store which commit is next.
                halt(run)
                throw error
            }
        }
    }

    /// Fills a batch and hands it to a lane; a batch with nothing to send is recorded as it is.
    private mutating func send(
        to service: PushService, of run: CampaignRun, _ fill: (Batch, _ tag: Int) throws -> Void
    ) throws {
        let batch = takeSpareBatch()
        do {
            try fill(batch, nextTag)
        } catch {
            giveBack(batch)
            throw error
        }
        // The read may have taken so long that another relay owns the campaign now.
        guard isTrusted else { return giveBack(batch) }
        guard batch.run != nil else {
            giveBack(batch)
            // A retry that is due but was not read is tried again later, so that this does not spin.
            let now = now.wall
            let next = try store.nextRetry(run.record.key, channel: service.key.channel)
            return service.machine.noRetriesLeft(next: next.map { $0 > now ? $0 : now + .seconds(1) })
        }
        service.machine.left(
            batch.schedulerSource, tag: batch.tag, devices: batch.devices.count, pushes: batch.pushCount)
        run.left(batch)
        limits.consume(batch.pushCount, of: service.limited, at: now.tick)
        nextTag += 1
        guard let requests = batch.requests else {
            answered.append(batch)
            return
        }
        batchesOut[batch.tag] = batch
        batch.leftAt = now.tick
        services.submit(requests.batch, to: service, pin: batch.pin)
    }

    /// Carries out the decisions of the campaign's own machine.
    private mutating func advance(_ run: CampaignRun) throws -> Duration {
        let (now, surelyPast) = (now, surelyPast)
        let action = run.lifecycle.next(run.progress, isAsleep: run.hours.isAsleep, at: surelyPast)
        switch action {
        case .wait(let until):
            return until.map { max($0 - surelyPast, .zero) } ?? .seconds(3600)
        case .gather:
            try gather(run, at: now)
        case .endWave:
            try endWave(of: run, at: now.wall)
        case .beginWave:
            try beginWave(of: run, at: now)
        case .begin, .expire, .halt, .forget:
            perform(action, of: run)
        case .complete:
            try retireUnregistered(of: run, at: now.wall)
            if try store.completeIfDone(run.record.key, at: now.wall) {
                forget(run)
                decisions.reportEnd("the campaign is complete", of: run.record.key)
            } else {
                // The campaign's state has just been changed.
                halt(run)
            }
            return .seconds(3600)
        }
        return .zero
    }

    // MARK: Back

    /// Sends pushes for tokens that a service called bad to the app's other environment, if the app's route tries that.
    ///
    /// - Returns: whether the batch is on its way again.
    mutating func sendSecondTries(_ batch: Batch) -> Bool {
        guard let run = batch.run, let service = batch.service,
            run.route.triesOtherEnvironment(of: service.key.channel),
            run.lifecycle.isSending, batch.secondTries.requests == nil
        else { return false }
        let now = now
        _ = lookAtHours(of: run)
        let mayBegin = !run.hours.isAsleep && isTrusted
        guard let sent = services.sendSecondTries(of: batch, for: run, after: service, mayBegin: mayBegin, at: now)
        else { return false }
        // These were sent without an allowance: later pushes make up for them.
        limits.consume(sent.pushes, of: sent.other.limited, at: now.tick)
        return true
    }

    /// Records all batches that are back, each campaign's in one transaction, and then those that have become ready because all
    /// their devices were filtered. The time for this is limited: an audience in which everybody is filtered would otherwise keep
    /// the thread from its events until the last device.
    mutating func record() {
        let end = now.tick + configuration.recordingTurn
        while !answered.isEmpty {
            if storeRests { return }
            pulse.beat()
            let now = now
            do {
                for batch in answered where batch.commits == nil && !batch.isUntouched {
                    if let run = batch.run, let service = batch.service { settle(batch, of: run, service, at: now) }
                }
                try writeSuspensions()
                while let run = answered.first?.run {
                    noticeTerm()
                    try record(run, at: now)
                }
            } catch {
                return noteStore(error)
            }
            _ = proceed()
            if self.now.tick >= end { return }
        }
    }

    /// Records the campaign's batches that are back.
    private mutating func record(_ run: CampaignRun, at now: Moment) throws {
        let batches = run.next(of: answered.filter { $0.run === run })
        let isRecorded: Bool
        do {
            // The commits share the batches' buffers, so they must be released before the buffers are emptied.
            isRecorded = try run.commit(
                batches.flatMap { $0.commits?.all ?? [] }, ofBatches: batches.count, to: store, at: now.wall)
        } catch let error as StoreError where error.code == .conflict {
            return try recordApart(batches, of: run, at: now)
        }
        let done = Set(batches.map(\.tag))
        answered.removeAll { done.contains($0.tag) }
        if !isRecorded { giveUp(batches, of: run) }
        for batch in batches { recorded(batch, at: now) }
    }

    /// Updates the machines, and keeps the batch's memory for the next.
    mutating func recorded(_ batch: Batch, at now: Moment) {
        if let load = batch.load {
            let (run, service) = (load.run, load.service)
            run.ended(batch)
            if batch.commits != nil {
                service.provider.saveCredentialAgain()
                run.pushes.add(batch.pushCount, at: now.wall)
                run.devices.add(batch.devices.count, at: now.wall)
                batch.count(into: &tallies[run.record.app, default: PushTally()])
            }
            var end = batch.end
            if batch.source == .retries {
                do {
                    end.nextRetry = try store.nextRetry(run.record.key, channel: service.key.channel)
                } catch {
                    noteStore(error)
                    end.nextRetry = now.wall + .seconds(1)
                }
            }
            service.machine.ended(end, campaign: run.record.key.row, at: now)
            limits.settle(end, of: service.limited, at: now.tick)
            if batch.commits != nil {
                for channel in load.handedTo.sorted() { handOver(run, to: channel, at: now) }
            }
            if run.lifecycle.isStopped { forget(run) }
        }
        giveBack(batch)
    }

    /// Makes devices that now belong to another of the app's services due there. A campaign that is no longer sent hands
    /// over nothing: another campaign may have begun there, and the rows in the store are found when this one goes on.
    private mutating func handOver(_ run: CampaignRun, to channel: Channel, at now: Moment) {
        guard run.lifecycle.isSending else { return }
        if let known = run.service(channel) { return known.machine.handedOver(at: now.wall) }
        do {
            try begin(run, at: channel, keepsRamp: false, now)
        } catch {
            // The next look begins the campaign anew, with all services that it has something for.
            noteStore(error)
            halt(run)
        }
    }
}
