// SPDX-License-Identifier: Apache-2.0
import Glibc
package import RelayEngine
package import RelayStore
package import Requirements
import Synchronization
package import Telemetry
package import Threading
package import UpgradeRules
import WireFormat

/// Watches every source from one thread, and opens gates as the stores offer the versions.
///
/// This object is the thread's interface and may be used from any other thread.
package final class SourceRunner: VersionLookup {
    /// The daemon's functions that the runner calls.
    package struct Callbacks: Sendable {
        /// Applies a bump; the second argument is the source's name for the history.
        package var apply: @Sendable (VersionBump, String) throws -> Void
        /// The versions in force have changed, and campaigns with them.
        package var inForceChanged: @Sendable () -> Void
        /// The settings of an app's campaigns; nil: it has no push service.
        package var draft: @Sendable (AppKey) -> CampaignDraft?
        /// The rules of an app's bumps, which a row that another program wrote must keep, too.
        package var rules: @Sendable (AppKey) -> BumpRules

        package init(
            apply: @escaping @Sendable (VersionBump, String) throws -> Void,
            inForceChanged: @escaping @Sendable () -> Void,
            draft: @escaping @Sendable (AppKey) -> CampaignDraft? = { _ in nil },
            rules: @escaping @Sendable (AppKey) -> BumpRules = { BumpRules(platform: $0.platform) }
        ) {
            self.apply = apply
            self.inForceChanged = inForceChanged
            self.draft = draft
            self.rules = rules
        }
    }

    /// The sources to watch, from the configuration.
    package struct Plan: Sendable, Equatable {
        package var sources: [VersionSource]
        /// The rules by which an app's gate opens; only apps with a store among their sources have a gate at all.
        package var rules: [AppKey: AvailabilityGate.Rules]

        package init(sources: [VersionSource], rules: [AppKey: AvailabilityGate.Rules] = [:]) {
            self.sources = sources
            self.rules = rules
        }
    }

    package enum Event: Sendable {
        case poke
        case ask(AppKey)
        case answered(Int, SourceAnswer)
        case plan(Plan)
        /// Another relay may have written evidence.
        case kept
        case stop
    }

    let store: any RelayStore
    let log: Log
    let clock: @Sendable () -> Timestamp
    let status = SourceStatus()
    let questions: any SourceQuestions
    /// Makes a thread that may block wait.
    let rest: @Sendable (Duration) -> Void
    /// The events for the next turn of the sources' loop.
    package let mailbox: Mailbox<Event>
    private let thread = Mutex<NativeThread?>(nil)
    private let stopping = CancellationFlag()

    /// - Parameters:
    ///   - questions: the access to the network and the disk; nil: the real one.
    ///   - rest: how `current` waits until it may ask.
    /// - Throws: `SystemError` where the system has no descriptor left.
    package init(
        store: any RelayStore, log: Log, clock: @escaping @Sendable () -> Timestamp,
        questions: (any SourceQuestions)? = nil, rest: @escaping @Sendable (Duration) -> Void = SourceRunner.block
    ) throws {
        self.store = store
        self.log = log
        self.clock = clock
        mailbox = try Mailbox()
        self.questions = questions ?? RealQuestions(clock: clock, isStopping: { [stopping] in stopping.isSet })
        self.rest = rest
    }

    /// Blocks the calling thread, for whole milliseconds (poll(2)).
    package static let block: @Sendable (Duration) -> Void = {
        _ = poll(nil, 0, Int32(clamping: max(1, $0.milliseconds)))
    }

    var isStopping: Bool { stopping.isSet }

    /// Starts the thread. Call once.
    package func start(_ plan: Plan, callbacks: Callbacks) throws {
        adopt(plan)
        let thread = try NativeThread(name: "sources") { [self] in
            var loop = SourceLoop(
                runner: self, callbacks: callbacks, plan: plan, directories: DirectoryWatch(),
                threads: QuestionThreads(questions, answersTo: mailbox))
            loop.run()
        }
        self.thread.withLock { $0 = thread }
    }

    /// Goes on with another configuration; sources that stay the same keep their state.
    package func reload(_ plan: Plan) {
        adopt(plan)
        mailbox.post(.plan(plan))
    }

    /// Notifies the thread that a version or a campaign changed.
    package func poke() {
        mailbox.post(.poke)
    }

    /// Asks the app's store at once, as far as its pace allows, as something may have happened there.
    package func askNow(_ app: AppKey) {
        mailbox.post(.ask(app))
    }

    /// Notifies the thread that evidence was written, by this relay or another one.
    package func noteKept() { mailbox.post(.kept) }

    /// Asks the thread to end and does not wait for it; a question under way is given up within about a second.
    package func askToStop() {
        stopping.set()
        mailbox.post(.stop)
    }

    /// Returns when the thread has ended. May be called twice, and without a start.
    package func stop() {
        askToStop()
        thread.withLock { $0.take() }?.join()
    }

    // MARK: Queries from other threads

    /// The present faults of the sources, by part.
    package func faults() -> [String: String] {
        status.read { $0.faults.texts }
    }

    /// The store that an app's versions wait for; nil where they wait for none.
    package func decidingStore(of app: AppKey) -> StoreKind? {
        status.read { $0.gates[app]?.deciding }
    }

    func isConfigured(_ app: AppKey) -> Bool { status.read { $0.apps.contains(app) } }

    /// The highest version that a store of the app was seen to offer.
    package func offered(of app: AppKey) -> Version? {
        let evidence = status.read { $0.evidence[app] ?? [:] }
        // In a fixed order, because equal versions may be written differently.
        return evidence.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap(\.value.versions).max()
    }

    /// The evidence for versions of the app: those that a store offered, and those seen on devices.
    package func known(of app: AppKey) throws -> KnownVersions {
        KnownVersions(offered: offered(of: app), seen: try store.seenVersions(of: app))
    }

    /// Whether App Store Connect or the App Store's lookup can be asked for the app.
    package func hasLookup(_ app: AppKey) -> Bool {
        status.read { $0.connects[app] != nil || $0.lookups[app] != nil }
    }

    /// The verdict of the app's gate on a version now; nil where it has none.
    ///
    /// - Parameter now: nil: the moment of the call.
    package func verdict(
        _ question: GateQuestion, of app: AppKey, at now: Timestamp? = nil
    ) -> GateVerdict? {
        let (gate, evidence, failing, remembered, audience) = status.read {
            ($0.gates[app], $0.evidence[app], $0.failing[app], $0.remembered, $0.audiences[app])
        }
        guard let gate else { return nil }
        return AvailabilityGate(question, rules: gate.rules).verdict(
            of: gate.deciding, evidence?[gate.deciding], failure: failing?[gate.deciding],
            isRemembered: remembered.contains(.init(app: app, kind: gate.deciding)), audience: audience,
            at: now ?? clock(), write: \.internetTime)
    }

    /// Whether one user can get a version from the app's store, by the store's last answer. Reads only memory.
    ///
    /// - Parameter audience: where the user is.
    package func offer(_ question: GateQuestion, of app: AppKey, to audience: AudienceCountries) -> StoreOffer {
        let (gate, evidence, failing) = status.read { ($0.gates[app], $0.evidence[app], $0.failing[app]) }
        guard let gate else { return .unasked }
        return AvailabilityGate(question, rules: gate.rules).offer(
            of: gate.deciding, evidence?[gate.deciding], failure: failing?[gate.deciding], to: audience, at: clock(),
            write: \.internetTime)
    }

    /// The app's state in its stores and its settings in the configuration, for a decision.
    package func surroundings(
        of app: AppKey, draft: CampaignDraft?, rules: BumpRules, _ known: KnownVersions?, at now: Timestamp
    ) -> RequirementMachine.Surroundings {
        var surroundings = RequirementMachine.Surroundings(
            now: now, gate: decidingStore(of: app)?.rawValue, draft: draft, known: known
        ) { self.verdict($0, of: app, at: now) }
        surroundings.rules = rules
        return surroundings
    }

    /// Warns of a required version whose release has a low `inAppUpdatePriority`, as apps may then put the update off.
    /// Reads only memory.
    package func warnings(of requirement: Requirement, _ app: AppKey) -> [String] {
        guard case .googlePlay(let track)? = status.read({ $0.evidence[app]?[.googlePlay] }),
            let release = track.published(GateQuestion(requirement.version, build: requirement.build)),
            let priority = release.priority,
            priority < GooglePlayEvidence.urgentPriority
        else { return [] }
        return [
            "the release of \(requirement.version) in Google Play (version code \(release.build)) has inAppUpdatePriority \(priority): an "
                + "app that goes by it takes less than \(GooglePlayEvidence.urgentPriority) for an update that can wait. Google sets it "
                + "with a new release alone"
        ]
    }

    // MARK: VersionLookup

    package func current(of app: AppKey) throws -> StoreListing? {
        let (connect, lookup) = status.read { ($0.connects[app], $0.lookups[app]) }
        // App Store Connect is exact, so it goes first.
        if let connect {
            var machine = AppStoreConnectMachine(source: connect, start: Timestamp(milliseconds: 0))
            let evidence = try round(&machine, connect, .appStoreConnect) { machine, question in
                take(questions.connect(question, connect), of: app, connect, &machine)
            }
            return evidence?.offered.map { StoreListing(version: $0.version, trackViewURL: connect.page) }
        }
        guard let lookup else { return nil }
        var machine = LookupMachine(source: lookup, start: Timestamp(milliseconds: 0))
        return try round(&machine, lookup, .appStore) { machine, key in
            take(questions.lookup(key, in: lookup), of: app, lookup, &machine)
        } ?? nil
    }

    /// Asks until the round is over; returns nil where nothing is asked. Blocks.
    private func round<Machine: PollMachine, News>(
        _ machine: inout Machine, _ source: some PacedSource, _ store: StoreKind,
        ask: (inout Machine, Machine.Question) -> Result<News, SourceFault>?
    ) throws(SourceFault) -> News? {
        let deadline = clock() + .seconds(15)
        while case .ask(let question) = machine.next(at: clock()) {
            if let free = status.pace(source, at: clock()) {
                guard free <= deadline, !isStopping else {
                    throw SourceFault("\(store.title) wants to be left alone for now; it is asked again later")
                }
                // The thread may block, and waits until the deadline at most.
                rest(free - clock())
            } else if let conclusion = ask(&machine, question) {
                let news = try conclusion.get()
                poke()
                return news
            }
        }
        return nil
    }

    // MARK: Answers

    /// Takes the lookup's answer, and returns the round's outcome; nil while there is more to ask.
    func take(
        _ answer: Result<AppStoreEntry?, SourceFault>, of app: AppKey, _ source: AppStoreSource,
        _ machine: inout LookupMachine
    ) -> Result<StoreListing?, SourceFault>? {
        blockIfThrottled(answer, source)
        let conclusion = machine.answered(answer, known: status.lookup(of: app)?.version, at: clock())
        if case .success(let listing)? = conclusion {
            status.note(listing, of: app, asked: source.query, at: clock())
        }
        return conclusion
    }

    /// Takes App Store Connect's answer, and returns the round's outcome; nil while there is more to ask.
    func take(
        _ said: (answer: Result<AppStoreConnectMachine.Answer, SourceFault>, rate: AppStoreConnectRate?),
        of app: AppKey, _ source: AppStoreConnectSource, _ machine: inout AppStoreConnectMachine
    ) -> Result<AppStoreConnectEvidence, SourceFault>? {
        blockIfThrottled(said.answer, source)
        let conclusion = machine.answered(
            said.answer, rate: said.rate, before: status.releases(of: app), at: clock())
        if case .success(let evidence)? = conclusion {
            status.note(.appStoreConnect(evidence), of: app, asked: source.query)
        }
        return conclusion
    }

    /// Pauses all sources that share the source's pace where the store reports that it was asked too often.
    private func blockIfThrottled<Answer>(_ answer: Result<Answer, SourceFault>, _ source: some PacedSource) {
        guard case .failure(let fault) = answer, fault.isThrottled else { return }
        let pause = min(max(fault.retryAfter ?? .seconds(60), .seconds(1)), PollSchedule.longestRetryAfter)
        status.block(source, until: clock() + pause)
    }

    // MARK: The thread

    /// Makes this plan the basis of queries from other threads; `start` and `reload` call it.
    package func adopt(_ plan: Plan) {
        status.write { state in
            let before = state.queries
            (state.lookups, state.connects, state.queries, state.gates) = ([:], [:], [:], [:])
            state.apps = Set(plan.rules.keys).union(plan.sources.map(\.app))
            for source in plan.sources {
                if case .appStore(let store) = source.kind { state.lookups[source.app] = store }
                if case .appStoreConnect(let store) = source.kind { state.connects[source.app] = store }
                guard let store = source.kind.store else { continue }
                state.queries[source.app, default: [:]][store] = source.kind.query
                let rules = plan.rules[source.app] ?? AvailabilityGate.Rules()
                state.gates[source.app, default: .init(kinds: [], rules: rules)].kinds.insert(store)
            }
            // Another app's, track's or country's offer is no evidence for this one.
            for (app, evidence) in state.evidence {
                state.evidence[app] = evidence.filter { kind, _ in
                    state.queries[app]?[kind].map { $0 == before[app]?[kind] } ?? false
                }
            }
            state.remembered = state.remembered.filter { state.evidence[$0.app]?[$0.kind] != nil }
            state.book.touchAll()
        }
        // Here and not in the thread, so that a query right after the start already gets the evidence from before it.
        recallEvidence()
    }
}
