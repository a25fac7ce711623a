// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
import Requirements
import Signing
import Telemetry
import Threading
import UpgradeRules

/// The work of the thread "sources": gives time, files and answers to the machines, and carries out their decisions. It reads
/// files itself; questions to servers have threads of their own, and it waits for none of them.
package struct SourceLoop {
    /// The wall clock may be set, so the thread never sleeps longer.
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
        /// Distinguishes it from sources that were watched before, whose answers may still come.
        var number: Int
        /// The bytes that were applied last; equal ones need no work.
        var applied: [UInt8]?
        /// The question under way, and whether the source was failing when it was asked.
        var asking: (question: SourceQuestion, isFailing: Bool)?
        /// Whether a question was requested while another was under way: the answer under way may be out of date.
        var isHastened = false
    }

    let runner: SourceRunner
    let callbacks: SourceRunner.Callbacks
    /// nil: the files are polled only.
    private let directories: DirectoryWatch?
    var watched: [Watched] = []
    /// For apps with both sources of the App Store.
    var crossChecks: [AppKey: StoreCrossCheck] = [:]
    private var gates = GateKeeper()
    private var evidence = EvidenceKeeper()
    /// nil: questions are answered at once.
    private let threads: QuestionThreads?
    private var slots = QuestionSlots()
    /// How many sources were watched since the start.
    private var count = 0
    /// Whether this relay led at the last turn: only the leading relay asks the stores.
    private var led: Bool
    /// The index of the source whose turn is first; it moves on so that each gets a slot in time.
    private var first = 0

    /// For a caller that runs the turns itself, without the runner's thread. The runner must `adopt` the plan first.
    package init(runner: SourceRunner, callbacks: SourceRunner.Callbacks, plan: SourceRunner.Plan) {
        self.init(runner: runner, callbacks: callbacks, plan: plan, directories: nil, threads: nil)
    }

    init(
        runner: SourceRunner, callbacks: SourceRunner.Callbacks, plan: SourceRunner.Plan,
        directories: DirectoryWatch?, threads: QuestionThreads?
    ) {
        self.runner = runner
        self.callbacks = callbacks
        self.directories = directories
        self.threads = threads
        led = runner.store.membership.leads
        adopt(plan)
    }

    mutating func run() {
        var events = runner.mailbox.take()
        while let next = turn(events) {
            let rest = min(next - runner.clock(), Self.longestSleep)
            events = runner.mailbox.take(timeout: rest, orReadable: directories?.descriptor ?? -1)
        }
        threads?.join()
    }

    /// Takes the events and does all work that is due. With threads for its questions it waits for nothing.
    ///
    /// - Returns: when to call again at the latest, if no event comes; nil after a stop.
    package mutating func turn(_ events: [SourceRunner.Event]) -> Timestamp? {
        for event in events {
            switch event {
            case .stop: return nil
            case .plan(let plan): adopt(plan)
            case .poke: evidenceChanged()
            case .ask(let app): hasten(app)
            case .answered(let number, let answer): answered(number, answer)
            case .kept: if !led { runner.takeUpEvidence() }
            }
        }
        let leads = runner.store.membership.leads
        if leads, !led {
            // It goes on with the evidence of the relay that led before it, which alone forces no user: each store is asked.
            runner.takeUpEvidence()
            evidenceChanged()
            for index in watched.indices { hasten(index, isAlsoLookup: true) }
        }
        led = leads
        if directories?.drain() ?? false { filesChanged() }
        var due: [Timestamp] = []
        first = watched.isEmpty ? 0 : (first + 1) % watched.count
        for offset in watched.indices {
            let index = (first + offset) % watched.count
            var one = watched[index]
            if let next = work(&one) { due.append(next) }
            watched[index] = one
        }
        // Only the leading relay lets versions through.
        guard leads else { return due.min() ?? runner.clock() + Self.longestSleep }
        // Before the gates: the evidence that they decide by must survive the process, too.
        if let next = evidence.update(runner) { due.append(next) }
        if let next = gates.update(runner, callbacks) { due.append(next) }
        return due.min() ?? runner.clock() + Self.longestSleep
    }

    // MARK: The watched sources

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
            count += 1
            return Watched(source: source, part: part, kind: kind, number: count)
        }
        // The faults of a removed source are cleared; a source in its place reports its own.
        for gone in old {
            if let asking = gone.asking { slots.leave(asking.question, isFailing: asking.isFailing) }
            _ = runner.status.write { $0.faults.clear(gone.part) }
            if let store = gone.source.kind.store { runner.status.note(failure: nil, of: store, gone.source.app) }
        }
        runner.questions.keep(plan.sources)
        beginCounting(watched)
        adoptCrossChecks()
        watchDirectories()
        evidenceChanged()
    }

    /// Makes the gates be looked at again, as one may have opened.
    mutating func evidenceChanged() {
        gates.mustLook = true
    }

    /// Watches the files' directories. Called before any read, so that no change between watching and reading is missed.
    private func watchDirectories() {
        var needed: Set<String> = []
        for case .file(let path, _) in watched.map(\.kind) {
            let end = path.lastIndex(of: "/") ?? path.startIndex
            needed.insert(end == path.startIndex ? "/" : String(path[..<end]))
        }
        directories?.watch(needed)
    }

    /// Takes an event in the directory of a watched file.
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

    /// Does the work that is due for one source.
    ///
    /// - Returns: when to call again; nil: after its answer, after an answer that frees a slot, or once this relay leads.
    private mutating func work(_ watched: inout Watched) -> Timestamp? {
        if watched.asking != nil { return nil }
        if case .file(let path, var machine) = watched.kind {
            if machine.due(at: runner.clock()) <= runner.clock() {
                // Watches a directory that was missing before or has been replaced.
                watchDirectories()
                read(path, &machine, &watched)
                watched.kind = .file(path: path, machine)
            }
            return machine.due(at: runner.clock())
        }
        // Only the leading relay asks: stores count questions, and a second edit in Google Play may end the first. Each
        // relay reads its own files.
        guard led else { return nil }
        guard case .ask(let question) = next(watched) else { return due(watched) }
        let isFailing = runner.status.read { $0.faults.text(watched.part) != nil }
        guard slots.isFree(for: question, isFailing: isFailing) else { return nil }
        if let free = pace(question) { return free }
        guard let threads else {
            // One question at most, so that files need not wait for a whole round.
            take(runner.questions.answer(question), of: &watched)
            return due(watched)
        }
        slots.take(for: question, isFailing: isFailing)
        watched.asking = (question, isFailing)
        threads.ask(question, of: watched.number)
        return nil
    }

    private func due(_ watched: Watched) -> Timestamp {
        if case .wait(let time) = next(watched) { time } else { runner.clock() }
    }

    private func next(_ watched: Watched) -> PollStep<SourceQuestion> {
        let now = runner.clock()
        return switch watched.kind {
        case .appStore(let source, let machine): machine.next(at: now).map { .lookup($0, source) }
        case .appStoreConnect(let source, let machine): machine.next(at: now).map { .connect($0, source) }
        case .file(_, let machine): .wait(until: machine.due(at: now))
        case .url(let source, let schedule, let validators):
            schedule.next(.document(source, since: validators), at: now)
        case .googlePlay(let source, let machine):
            machine.next(at: now).map { question in
                switch question {
                case .discard(let edit): .discard(edit: edit, source)
                case .list: .releases(source)
                case .readTrack: .rollouts(source)
                }
            }
        }
    }

    /// When the question's server may be asked; nil: now, and the right is taken.
    private func pace(_ question: SourceQuestion) -> Timestamp? {
        switch question {
        case .lookup(_, let source): runner.status.pace(source, at: runner.clock())
        case .connect(_, let source): runner.status.pace(source, at: runner.clock())
        case .document, .releases, .rollouts, .discard: nil
        }
    }

    /// Takes the answer to a question that was under way; ignored where its source is gone.
    private mutating func answered(_ number: Int, _ answer: SourceAnswer) {
        guard let index = watched.firstIndex(where: { $0.number == number }) else { return }
        var one = watched[index]
        if let asking = one.asking { slots.leave(asking.question, isFailing: asking.isFailing) }
        one.asking = nil
        take(answer, of: &one)
        watched[index] = one
        if one.isHastened {
            watched[index].isHastened = false
            hasten(index)
        }
    }

    private mutating func take(_ answer: SourceAnswer, of watched: inout Watched) {
        let app = watched.source.app
        switch (answer, watched.kind) {
        case (.lookup(let answer), .appStore(let source, var machine)):
            finish(runner.take(answer, of: app, source, &machine), source, watched)
            watched.kind = .appStore(source, machine)
        case (.connect(let answer, let rate), .appStoreConnect(let source, var machine)):
            finish(runner.take((answer, rate), of: app, source, &machine), source, watched)
            watched.kind = .appStoreConnect(source, machine)
        case (.document(let answer), .url(let source, var schedule, var validators)):
            take(answer, &schedule, &validators, &watched)
            watched.kind = .url(source, schedule, validators)
        case (.releases(let answer), .googlePlay(let source, var machine)):
            finish(machine.listed(answer, wanted: wanted(of: app), at: runner.clock()), source, watched)
            watched.kind = .googlePlay(source, machine)
        case (.rollouts(let answer, let leftover), .googlePlay(let source, var machine)):
            finish(machine.read(answer, leftover: leftover, at: runner.clock()), source, watched)
            watched.kind = .googlePlay(source, machine)
        case (.discarded(let isGone), .googlePlay(let source, var machine)):
            machine.discarded(isGone: isGone)
            watched.kind = .googlePlay(source, machine)
        default: break
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

    private func take(
        _ answer: Result<SourceDocument, SourceFault>, _ schedule: inout PollSchedule,
        _ validators: inout SourceDocument.Validators, _ watched: inout Watched
    ) {
        do throws(SourceFault) {
            switch try answer.get() {
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
            app: watched.source.app, latest: reading.latest, required: reading.required,
            message: reading.message.map { LocalizedText($0) })
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

    /// Logs a fault once; `readyz` shows it for as long as it lasts.
    func report(_ fault: SourceFault, _ watched: Watched) {
        if runner.isStopping { return }
        if let store = watched.source.kind.store {
            runner.status.note(failure: fault.reason, of: store, watched.source.app)
        }
        let isNews = runner.status.write { state in
            state.figures[watched.part]?.failures += 1
            return state.faults.set(watched.part, fault.reason)
        }
        if isNews {
            runner.log(
                .warning, "a source of versions fails; nothing changes",
                [("source", watched.part), ("reason", fault.reason)])
        }
    }

    func recovered(_ watched: Watched) {
        if let store = watched.source.kind.store { runner.status.note(failure: nil, of: store, watched.source.app) }
        let now = runner.clock()
        let wasFailing = runner.status.write { state in
            state.figures[watched.part]?.lastSuccess = now
            return state.faults.clear(watched.part)
        }
        if wasFailing {
            runner.log(.notice, "a source of versions is well again", [("source", watched.part)])
        }
    }
}

/// How many questions may be under way at once. Pure.
struct QuestionSlots {
    /// Each question has a thread, for 20 s at most per request where the server does not answer.
    static let limit = 64
    /// The most questions to sources that failed last: those that hang leave room for the others.
    static let failingLimit = 48

    private var count = 0
    private var failing = 0
    private var accounts: Set<GoogleAccount> = []

    func isFree(for question: SourceQuestion, isFailing: Bool) -> Bool {
        guard count < Self.limit, !isFailing || failing < Self.failingLimit else { return false }
        return question.account.map { !accounts.contains($0) } ?? true
    }

    mutating func take(for question: SourceQuestion, isFailing: Bool) {
        count += 1
        if isFailing { failing += 1 }
        if let account = question.account { accounts.insert(account) }
    }

    mutating func leave(_ question: SourceQuestion, isFailing: Bool) {
        count -= 1
        if isFailing { failing -= 1 }
        if let account = question.account { accounts.remove(account) }
    }
}
