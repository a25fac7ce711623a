// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
import Telemetry
import Threading
import UpgradeRules

/// What the thread "sources" does: feeds the machines with time, files and answers, and does what they say.
package struct SourceLoop {
    /// The wall clock may be set: nobody sleeps longer.
    private static let longestSleep = Duration.seconds(60)

    struct Watched {
        enum Kind {
            case appStore(AppStoreSource, LookupMachine)
            case appStoreConnect(AppStoreConnectSource, AppStoreConnectMachine)
            case file(path: String, FileWatchMachine)
            case url(LaunchGateURLSource, PollSchedule, SourceDocument.Validators)
            case googlePlay(GooglePlaySource, GooglePlayMachine)
        }

        var source: VersionSource
        /// Its name in `readyz` and in the log.
        var part: String
        var kind: Kind
        /// What was applied last; the same again is no work.
        var applied: [UInt8]?
    }

    let runner: SourceRunner
    let callbacks: SourceRunner.Callbacks
    /// nil: the files are polled only.
    private let directories: DirectoryWatch?
    var watched: [Watched] = []
    /// For apps with both sources of the App Store.
    var crossChecks: [AppKey: StoreCrossCheck] = [:]
    private var gates = GateKeeper()

    /// For who has a runner without its thread, and has it `adopt` the plan first.
    package init(runner: SourceRunner, callbacks: SourceRunner.Callbacks, plan: SourceRunner.Plan) {
        self.init(runner: runner, callbacks: callbacks, plan: plan, directories: nil)
    }

    init(
        runner: SourceRunner, callbacks: SourceRunner.Callbacks, plan: SourceRunner.Plan,
        directories: DirectoryWatch?
    ) {
        self.runner = runner
        self.callbacks = callbacks
        self.directories = directories
        adopt(plan)
    }

    mutating func run() {
        var events = runner.mailbox.take()
        while let next = turn(events) {
            let rest = min(next - runner.clock(), Self.longestSleep)
            events = runner.mailbox.take(timeout: rest, orReadable: directories?.descriptor ?? -1)
        }
    }

    /// Takes the events and does all that is due. It waits for answers, and for nothing else.
    ///
    /// - Returns: when to come again at the latest, if no event comes; nil once it was told to stop.
    package mutating func turn(_ events: [SourceRunner.Event]) -> Timestamp? {
        for event in events {
            switch event {
            case .stop: return nil
            case .plan(let plan): adopt(plan)
            case .poke: evidenceChanged()
            case .ask(let app): hasten(app)
            }
        }
        if directories?.drain() ?? false { filesChanged() }
        var due: [Timestamp] = []
        for index in watched.indices {
            var one = watched[index]
            due.append(work(&one))
            watched[index] = one
        }
        if let next = gates.update(runner, callbacks) { due.append(next) }
        return due.min() ?? runner.clock() + Self.longestSleep
    }

    // MARK: What is watched

    private mutating func adopt(_ plan: SourceRunner.Plan) {
        let now = runner.clock()
        var counts: [String: Int] = [:]
        var old = watched
        watched = plan.sources.map { source in
            let name = "source:\(source.app.app)/\(source.app.platform.rawValue):\(source.name)"
            counts[name, default: 0] += 1
            let part = counts[name] == 1 ? name : "\(name)#\(counts[name] ?? 0)"
            if let index = old.firstIndex(where: { $0.source == source && $0.part == part }) {
                return old.remove(at: index)
            }
            let kind: Watched.Kind =
                switch source.kind {
                case .appStore(let store): .appStore(store, LookupMachine(source: store, start: now))
                case .appStoreConnect(let store):
                    .appStoreConnect(store, AppStoreConnectMachine(source: store, start: now))
                case .launchGateFile(let path): .file(path: path, FileWatchMachine(start: now))
                case .launchGateURL(let url):
                    .url(url, PollSchedule(every: url.every, start: now), SourceDocument.Validators())
                case .googlePlay(let play): .googlePlay(play, GooglePlayMachine(source: play, start: now))
                }
            return Watched(source: source, part: part, kind: kind)
        }
        // What takes the place of another speaks for itself.
        for gone in old {
            _ = runner.status.write { $0.faults.clear(gone.part) }
            if let store = gone.source.kind.store { runner.status.note(failure: nil, of: store, gone.source.app) }
        }
        runner.questions.keep(plan.sources)
        beginCounting(watched)
        adoptCrossChecks()
        watchDirectories()
        evidenceChanged()
    }

    /// A gate may have opened.
    mutating func evidenceChanged() {
        gates.mustLook = true
    }

    /// Before any read, so that a change between the two is not missed.
    private func watchDirectories() {
        var needed: Set<String> = []
        for case .file(let path, _) in watched.map(\.kind) {
            let end = path.lastIndex(of: "/") ?? path.startIndex
            needed.insert(end == path.startIndex ? "/" : String(path[..<end]))
        }
        directories?.watch(needed)
    }

    /// Something happened in the directory of a watched file.
    package mutating func filesChanged() {
        watchDirectories()
        let now = runner.clock()
        for index in watched.indices {
            guard case .file(let path, var machine) = watched[index].kind else { continue }
            machine.changed(at: now)
            watched[index].kind = .file(path: path, machine)
        }
    }

    // MARK: One source

    /// Does what is due; when to come again.
    private mutating func work(_ watched: inout Watched) -> Timestamp {
        switch watched.kind {
        case .appStore(let source, var machine):
            let next = ask(source, &machine, watched)
            watched.kind = .appStore(source, machine)
            return next
        case .appStoreConnect(let source, var machine):
            let next = ask(source, &machine, watched)
            watched.kind = .appStoreConnect(source, machine)
            return next
        case .file(let path, var machine):
            let now = runner.clock()
            if machine.due(at: now) <= now {
                // A directory that was missing, or that was replaced, is found again.
                watchDirectories()
                read(path, &machine, &watched)
                watched.kind = .file(path: path, machine)
            }
            return machine.due(at: runner.clock())
        case .url(let source, var schedule, var validators):
            let now = runner.clock()
            if schedule.due(at: now) <= now {
                fetch(source, &schedule, &validators, &watched)
                watched.kind = .url(source, schedule, validators)
            }
            return schedule.due(at: runner.clock())
        case .googlePlay(let source, var machine):
            let next = ask(source, &machine, watched)
            watched.kind = .googlePlay(source, machine)
            return next
        }
    }

    /// One question at most, so that files are not kept waiting for a whole round.
    private mutating func ask(
        _ source: AppStoreSource, _ machine: inout LookupMachine, _ watched: Watched
    ) -> Timestamp {
        let app = watched.source.app
        switch machine.next(at: runner.clock()) {
        case .wait(let time): return time
        case .ask(let key):
            if let free = runner.status.pace(source, at: runner.clock()) { return free }
            let answer = runner.questions.lookup(key, in: source)
            runner.blockIfThrottled(answer, source)
            let known = runner.status.lookup(of: app)?.version
            switch machine.answered(answer, known: known, at: runner.clock()) {
            case nil: break
            case .fault(let fault): report(fault, watched)
            case .notListed:
                runner.status.note(nil, of: app, at: runner.clock())
                crossCheck(app)
                report(
                    SourceFault(
                        "the App Store lists no such app"
                            + (source.country.map { " in \"\($0)\"" } ?? " in the United States; say which `country`")),
                    watched)
            case .listing(let listing):
                runner.status.note(listing, of: app, at: runner.clock())
                crossCheck(app)
                do throws(SourceFault) {
                    try raiseLatest(listing.version, page: listing.trackViewURL, app, from: .appStore)
                    recovered(watched)
                } catch {
                    report(error, watched)
                }
            }
            if case .wait(let time) = machine.next(at: runner.clock()) { return time }
            return runner.clock()
        }
    }

    /// A store raises `latest` and nothing else: what is required is for the force policy or a person to say.
    ///
    /// - Parameters:
    ///   - build: Android's version code of it.
    ///   - page: where people get the app, where the store says so.
    func raiseLatest(
        _ version: Version, build: Int64? = nil, page: String?, _ app: AppKey, from store: StoreKind
    ) throws(SourceFault) {
        do {
            let stored = try runner.store.version(of: app)
            var bump = VersionBump(app: app)
            if stored?.latest.map({ $0 < version }) ?? true { bump.latest = version }
            // Not the code of an older version: both only rise.
            if let build, stored?.latest.map({ $0 <= version }) ?? true,
                stored?.builds.latest.map({ $0 < build }) ?? true
            {
                bump.builds.latest = build
            }
            guard bump != VersionBump(app: app) else { return }
            if let page, DownloadURL.fault(in: page) == nil {
                bump.downloadURL = page
            }
            try callbacks.apply(bump, store.rawValue)
        } catch {
            throw SourceFault("\(version) is not taken: \(error)")
        }
    }

    private func read(_ path: String, _ machine: inout FileWatchMachine, _ watched: inout Watched) {
        do throws(SourceFault) {
            let bytes = try runner.questions.file(path)
            if bytes != watched.applied { try apply(bytes, &watched) }
            machine.good(at: runner.clock())
            recovered(watched)
        } catch {
            watched.applied = nil
            if machine.bad(at: runner.clock()) { report(error, watched) }
        }
    }

    private func fetch(
        _ source: LaunchGateURLSource, _ schedule: inout PollSchedule, _ validators: inout SourceDocument.Validators,
        _ watched: inout Watched
    ) {
        do throws(SourceFault) {
            switch try runner.questions.document(source.url, since: validators) {
            case .unchanged: break
            case .body(let bytes, let new):
                if bytes != watched.applied { try apply(bytes, &watched) }
                // Only now: a document that could not be used must be sent again.
                validators = new
            }
            schedule.succeeded(at: runner.clock())
            recovered(watched)
        } catch {
            (validators, watched.applied) = (SourceDocument.Validators(), nil)
            schedule.failed(error, at: runner.clock())
            report(error, watched)
        }
    }

    private func apply(_ bytes: [UInt8], _ watched: inout Watched) throws(SourceFault) {
        let reading = try LaunchGateReading(bytes)
        let bump = VersionBump(
            app: watched.source.app, latest: reading.latest, required: reading.required, message: reading.message)
        if bump != VersionBump(app: watched.source.app) {
            do {
                try callbacks.apply(bump, watched.source.name)
            } catch {
                throw SourceFault("\(error)")
            }
        }
        watched.applied = bytes
    }

    // MARK: Faults

    /// Said once in the log, and shown by `readyz` for as long as it lasts.
    func report(_ fault: SourceFault, _ watched: Watched) {
        if runner.isStopping { return }
        countFailure(watched)
        if let store = watched.source.kind.store {
            runner.status.note(failure: fault.reason, of: store, watched.source.app)
        }
        let isNews = runner.status.write { $0.faults.set(watched.part, fault.reason) }
        if isNews {
            runner.log(
                .warning, "a source of versions fails; nothing changes",
                [("source", watched.part), ("reason", fault.reason)])
        }
    }

    func recovered(_ watched: Watched) {
        countSuccess(watched)
        if let store = watched.source.kind.store { runner.status.note(failure: nil, of: store, watched.source.app) }
        if runner.status.write({ $0.faults.clear(watched.part) }) {
            runner.log(.notice, "a source of versions is well again", [("source", watched.part)])
        }
    }
}
