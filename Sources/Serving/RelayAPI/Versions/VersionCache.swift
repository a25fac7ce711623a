// SPDX-License-Identifier: Apache-2.0
import Dispatch
package import HTTPServer
package import RelayEngine
package import RelayStore
package import Requirements
import Synchronization
package import Threading
package import UpgradeRules

/// The answers of the open paths: the versions in force, the alerts and the versions seen, as they were a moment ago, with every
/// answer rendered. Requests never touch the disk here.
///
/// Read again at each change of a version that this process makes (its store passes it on) or sees, once a minute, and once
/// a second while the documents are asked for: by its own thread from `start` to `stop`, else by the calling thread. May be
/// used from any thread.
package final class VersionCache: Sendable {
    private let store: any RelayStore
    private let clock: @Sendable () -> Timestamp
    private let profiles: @Sendable () -> [AppKey: AppProfile]
    private let contents = Mutex(Contents())
    /// Held while the store is read, so that states are shown in the order in which they were read.
    private let refreshing = Mutex(())
    private let wasRead = Atomic<Bool>(false)
    private let worker = Worker()
    /// The ends of the present second and minute, in milliseconds: waking the thread does not move them.
    private let due = Mutex((second: Int64.min, minute: Int64.min))
    /// The changes to show; nil while the thread does not run.
    private let wishes = Mutex<[Wish]?>(nil)

    /// A change that a caller has reported.
    private struct Wish {
        /// The records after the change; nil: something else has changed.
        var records: [VersionRecord]?
        /// Signalled once they are shown; nil: no caller waits for it.
        var end: DispatchSemaphore?
    }

    private struct Contents {
        var records: [AppKey: VersionRecord] = [:]
        var checks: [AppKey: CheckAnswers] = [:]
        var documents: [String: LaunchDocument] = [:]
        var newest: [AppKey: Version] = [:]
        var seen: [AppKey: SeenVersions] = [:]
        var alerts: [AppKey: AlertRecord] = [:]
        var profiles: [AppKey: AppProfile] = [:]
        /// Apps whose launch document was asked for, since the start.
        var readers: Set<String> = []
    }

    /// - Parameter profiles: returns every configured app; called at each refresh.
    package init(
        store: any RelayStore, clock: @escaping @Sendable () -> Timestamp,
        profiles: @escaping @Sendable () -> [AppKey: AppProfile]
    ) {
        self.store = store
        self.clock = clock
        self.profiles = profiles
    }

    /// - Throws: where the system has no thread left.
    package func start() throws(SystemError) {
        try worker.start("versions") { [self] _ in
            let now = MonotonicClock.milliseconds()
            let (isDue, next) = due.withLock { due in
                let isSecondOver = now >= due.second
                if isSecondOver { due.second = now + 1000 }
                let isDue = now >= due.minute || isSecondOver && wasRead.exchange(false, ordering: .relaxed)
                if isDue { due.minute = now + 60_000 }
                return (isDue, due.second)
            }
            if isDue { read() }
            grant()
            return .milliseconds(max(1, next - MonotonicClock.milliseconds()))
        }
        wishes.withLock { $0 = [] }
    }

    /// Ends the thread. May be called twice, or without a start.
    package func stop() {
        worker.stop()
        grant(isLast: true)
    }

    private func grant(isLast: Bool = false) {
        let wishes = wishes.withLock { wishes in
            defer { if wishes != nil { wishes = isLast ? nil : [] } }
            return wishes ?? []
        }
        if !wishes.allSatisfy({ isShown($0.records) }) { read() }
        for wish in wishes { wish.end?.signal() }
    }

    private func isShown(_ records: [VersionRecord]?) -> Bool {
        guard let records else { return false }
        return contents.withLock { contents in records.allSatisfy { contents.records[$0.app] == $0 } }
    }

    /// Shows a change that this process has committed. Only its store calls this (`DecisionNotices`).
    package func take(_ fact: DecisionNotices.Fact) {
        switch fact {
        case .decided(let record, isAwaited: true): refresh(for: record)
        case .decided(let record, isAwaited: false): note([record])
        case .other: refresh(for: nil)
        }
    }

    /// Shows the stored state, for changes that come from elsewhere. Returns when that is shown; where the store cannot be read,
    /// the answers stay as they are, and the watcher reports that.
    package func refresh() { refresh(for: nil) }

    /// - Parameter record: the record that has changed; nil: something else has.
    private func refresh(for record: VersionRecord?) {
        let records = record.map { [$0] }
        if isShown(records) { return }
        let end = DispatchSemaphore(value: 0)
        if wish(Wish(records: records, end: end)) { end.wait() } else { read() }
    }

    /// Shows these records soon; does not wait for that where the thread runs.
    package func note(_ records: [VersionRecord]) {
        if !isShown(records), !wish(Wish(records: records)) { read() }
    }

    /// - Returns: whether the thread runs, and so will show the change.
    private func wish(_ wish: Wish) -> Bool {
        let isTaken = wishes.withLock { wishes in
            wishes?.append(wish)
            return wishes != nil
        }
        if isTaken { worker.wake() }
        return isTaken
    }

    private func read() {
        refreshing.withLock { _ in
            let memory = store.membership.memory
            var (records, alerts, seen): ([VersionRecord], [AlertRecord], [AppKey: SeenVersions]) = ([], [], [:])
            do {
                // Nothing is taken from a store that went back in time: the earlier answers stay. `lookBack` comes last, so
                // that it covers all that was read.
                guard !memory.hasFallen else { throw memory.fall?.error ?? StoreError(.wentBack, context: "") }
                (records, alerts, seen) = (
                    try store.versions(), try store.alerts(at: clock()), try store.seenVersions()
                )
                try store.lookBack()
            } catch let error as StoreError where error.code == .wentBack && contents.withLock(\.profiles.isEmpty) {
                // There are no earlier answers, so no user is forced to anything.
                (records, alerts, seen) = ([], [], [:])
            } catch {
                return
            }
            let profiles = profiles()
            let byApp = Dictionary(uniqueKeysWithValues: records.map { ($0.app, $0) })
            let alertByApp = Dictionary(uniqueKeysWithValues: alerts.map { ($0.app, $0) })
            var new = Contents()
            new.records = byApp
            new.alerts = alertByApp
            new.profiles = profiles
            new.seen = seen
            for record in records {
                new.newest[record.app] = record.requirements.takenUp.latest?.version
            }
            for (app, profile) in profiles {
                let requirements = profile.rules(of: app).sanitised(byApp[app]?.requirements ?? Requirements())
                new.checks[app] = CheckAnswers(requirements, profile)
                let known = seen[app] ?? SeenVersions()
                let said = InForce(requirements, systems: known.systems)
                func words(_ row: Requirement?) -> LocalizedText? {
                    row.flatMap { requirements.words(of: $0, profile.moments) }
                }
                let texts = (required: words(said.floor), optional: words(said.newest))
                let facts = Self.facts(said.floor, said.newest, texts, profile, known)
                new.documents[app.app, default: LaunchDocument()].add(
                    facts, words: texts, alert: alertByApp[app], of: app.platform)
            }
            let now = clock()
            for name in new.documents.keys { new.documents[name]?.render(at: now) }
            contents.withLock { contents in
                new.readers = contents.readers
                contents = new
            }
        }
    }

    // MARK: Answers

    /// nil when the app is not configured.
    package func check(_ app: AppKey, version: Version?, user: UpgradeRule.User) -> CheckAnswers.Answer? {
        contents.withLock { $0.checks[app] }?.answer(to: version, user: user)
    }

    /// The verdict for a proxy on a version of an app.
    ///
    /// - Returns: the app too, where it is configured.
    package func enforce(_ app: AppKey?, version: Version?, system: Version? = nil) -> (app: AppKey?, EnforceVerdict) {
        guard let app, let answers = contents.withLock({ $0.checks[app] }) else { return (nil, .unknown(.ofNobody)) }
        return (app, answers.enforce(version, system: system))
    }

    /// The records of the configured apps, in the order of their names.
    var knownRecords: [VersionRecord] {
        contents.withLock { contents in
            contents.records.values.filter { contents.profiles[$0.app] != nil }.sorted { $0.app < $1.app }
        }
    }

    func seen(of app: AppKey) -> SeenVersions { contents.withLock { $0.seen[app] } ?? SeenVersions() }

    /// Whether an app's launch document is used: it was asked for since the start, or has an alert.
    func isDocumentUsed(_ app: String) -> Bool {
        contents.withLock { contents in
            contents.readers.contains(app)
                || Platform.allCases.contains { contents.alerts[AppKey(app: app, platform: $0)] != nil }
        }
    }

    /// The rules behind the answers; empty where the app is not configured.
    func rules(of app: AppKey) -> [UpgradeRule] { contents.withLock { $0.checks[app]?.rules ?? [] } }

    /// The document's section for one platform; nil when the app is not configured.
    func launchSection(of app: AppKey) -> LaunchGateDocument.Section? {
        let now = clock()
        return contents.withLock { $0.documents[app.app]?.section(app.platform, at: now) }
    }

    /// Whether an app's answers depend on a list of named users (`CheckAnswers.isRestricted`).
    package func isRestricted(_ app: AppKey) -> Bool {
        contents.withLock { $0.checks[app]?.isRestricted ?? false }
    }

    /// Whether a device may plausibly have this version: it is no newer than the announced one or, where none was
    /// announced, does not leap over the versions of other devices.
    package func isCredible(_ version: Version, of app: AppKey) -> Bool {
        let (newest, seen) = contents.withLock { ($0.newest[app], $0.seen[app]) }
        if let newest { return version <= newest }
        return !KnownVersions(seen: seen ?? SeenVersions()).doubts(version, announced: nil)
    }

    /// nil when the app is configured for no platform.
    package func document(_ app: String) -> PreparedContent? { document(app, for: RequestedLanguages())?.content }

    /// The launch document in the requested language.
    ///
    /// - Returns: the document, with the request header on which it depends.
    func document(_ app: String, for wish: RequestedLanguages) -> (content: PreparedContent, vary: String?)? {
        wasRead.store(true, ordering: .relaxed)
        let now = clock()
        let document = contents.withLock { contents in
            if contents.documents[app] != nil { contents.readers.insert(app) }
            if let end = contents.documents[app]?.changesAt, end <= now { contents.documents[app]?.render(at: now) }
            return contents.documents[app]
        }
        guard let document, let content = document.content else { return nil }
        guard document.hasLanguages else { return (content, nil) }
        return (wish.ranges.flatMap(document.content) ?? content, wish.vary)
    }

    // MARK: Advice

    /// The warnings about the launch document for a record, once all of it is in force; none where no app uses the document.
    package func documentWarnings(for record: VersionRecord, seen: SeenVersions) -> [String] {
        guard isDocumentUsed(record.app.app) else { return [] }
        let (profile, alert) = contents.withLock { ($0.profiles[record.app], $0.alerts[record.app]) }
        let asked = record.requirements
        let words = record.words(profile?.moments ?? MomentWords())
        var facts = Self.facts(asked.required, asked.latest, (words, words), profile, seen)
        facts.show(alert, at: clock())
        return LaunchGateAdvice(record.app.platform, facts).warnings
    }

    /// - Parameters:
    ///   - floor: the requirement.
    ///   - newest: the newest version that is announced.
    ///   - words: the message for each of them.
    static func facts(
        _ floor: Requirement?, _ newest: Requirement?, _ words: (required: LocalizedText?, optional: LocalizedText?),
        _ profile: AppProfile?, _ seen: SeenVersions
    ) -> LaunchGateAdvice.Facts {
        LaunchGateAdvice.Facts(
            required: floor?.version, latest: newest?.version, requiredBuild: floor?.build, latestBuild: newest?.build,
            message: words.required?.text, optionalMessage: words.optional?.text ?? "", requiredMessage: profile?.alert,
            seen: seen)
    }
}

/// The launch document of one app, rendered again when an alert in it ends.
private struct LaunchDocument {
    /// The messages with a required update, and with an optional one.
    typealias Words = (required: LocalizedText?, optional: LocalizedText?)

    private var facts: [Platform: (facts: LaunchGateAdvice.Facts, alert: AlertRecord?)] = [:]
    private var words: [Platform: Words] = [:]
    /// The document in the default language of each text.
    private var document = LaunchGateDocument(ios: .init(), android: .init())
    private(set) var content: PreparedContent?
    /// When the first alert in the content ends.
    private(set) var changesAt: Timestamp?

    mutating func add(
        _ facts: LaunchGateAdvice.Facts, words: Words, alert: AlertRecord?, of platform: Platform
    ) {
        self.facts[platform] = (facts, alert)
        self.words[platform] = words
    }

    /// Whether one of its messages has translations.
    var hasLanguages: Bool {
        words.values.contains { words in
            [words.required, words.optional].contains { $0?.translations.isEmpty == false }
        }
    }

    /// The document in these languages. The format has room for one language of each text, and each text has translations
    /// of its own, so the document is rendered for each request.
    func content(for ranges: LanguageRanges) -> PreparedContent {
        var document = document
        for (platform, words) in words {
            if let required = words.required {
                document[platform]?.required?.message = required.text(for: ranges)
            }
            if let optional = words.optional {
                document[platform]?.optional?.message = optional.text(for: ranges)
            }
        }
        return PreparedContent(document.rendered())
    }

    /// Renders both sections in any case: each client fails on a file without its own.
    mutating func render(at now: Timestamp) {
        document = LaunchGateDocument(ios: .init(), android: .init())
        changesAt = nil
        for (platform, entry) in facts {
            if let alert = entry.alert, !alert.hasEnded(at: now) {
                changesAt = [changesAt, alert.endsAt].compactMap(\.self).min()
            }
            document[platform] = section(platform, at: now)
        }
        content = PreparedContent(document.rendered())
    }

    func section(_ platform: Platform, at now: Timestamp) -> LaunchGateDocument.Section? {
        guard let known = facts[platform] else { return nil }
        var facts = known.facts
        facts.show(known.alert, at: now)
        return LaunchGateAdvice(platform, facts).section
    }
}

extension LaunchGateAdvice.Facts {
    /// Adds the app's alert, unless it has ended.
    fileprivate mutating func show(_ shown: AlertRecord?, at now: Timestamp) {
        guard let shown, !shown.hasEnded(at: now) else { return }
        alert = .init(message: shown.message, blocking: shown.isBlocking)
    }
}
