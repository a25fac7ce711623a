// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// Decides the next question to App Store Connect about one app: page after page, then the phased release where the pages do
/// not show it; then it waits. Pure.
package struct AppStoreConnectMachine: PollMachine, Hashable {
    package enum Question: Hashable, Sendable {
        /// nil: the first page.
        case page(String?)
        case phase(versionID: String)
    }

    package enum Answer: Hashable, Sendable {
        case page(AppStoreConnectPage)
        case phase(AppStoreConnectEvidence.Phase?)
    }

    /// A page has up to 200 versions.
    package static let maximumPages = 10
    /// The most versions kept: the live one and those after it. More are of no use.
    private static let maximumReleases = 50

    private let source: AppStoreConnectSource
    private var schedule: PollSchedule
    private var question = Question.page(nil)
    private var entries: [AppStoreConnectPage.Entry] = []
    private var seenLinks: Set<String> = []
    private var began: Timestamp?
    private var pause = Duration.zero

    package init(source: AppStoreConnectSource, start: Timestamp) {
        self.source = source
        schedule = PollSchedule(every: source.every, start: start)
    }

    package func next(at now: Timestamp) -> PollStep<Question> { schedule.next(question, at: now) }

    /// Lets the next round begin at once, as far as the pace and a pause that the service asked for allow.
    package mutating func hasten(at now: Timestamp) {
        schedule.hasten(to: max(now, began.map { $0 + min(source.shortest, source.every) } ?? now))
    }

    /// Takes the answer to the question that was due.
    ///
    /// - Parameters:
    ///   - rate: the key's remaining budget, from the answer.
    ///   - before: the evidence so far. It stays where the answer contradicts it.
    /// - Returns: the round's outcome; nil while more must be asked.
    package mutating func answered(
        _ answer: Result<Answer, SourceFault>, rate: AppStoreConnectRate?, before: AppStoreConnectEvidence?,
        at now: Timestamp
    ) -> Result<AppStoreConnectEvidence, SourceFault>? {
        if question == .page(nil) { began = now }
        pause = max(pause, rate?.pause ?? .zero)
        do throws(SourceFault) {
            switch (question, try answer.get()) {
            case (.page, .page(let page)):
                entries += page.entries
                if let next = page.next {
                    guard seenLinks.insert(next).inserted, seenLinks.count < Self.maximumPages else {
                        throw SourceFault(
                            "the list of versions has no end: more than \(seenLinks.count) pages, or one twice")
                    }
                    question = .page(next)
                    return nil
                }
                if let newest, !entries[newest].isPhaseKnown {
                    question = .phase(versionID: entries[newest].id)
                    return nil
                }
            case (.phase, .phase(let phase)):
                if let newest { entries[newest].release.phase = phase }
            default:
                throw SourceFault("the answer is not to the question")
            }
            let evidence = try evidence(before: before, at: now)
            schedule.succeeded(at: now, atLeast: pause)
            reset()
            return .success(evidence)
        } catch {
            schedule.failed(error, at: now)
            schedule.rest(pause, at: now)
            reset()
            return .failure(error)
        }
    }

    private mutating func reset() {
        (question, entries, seenLinks, pause) = (.page(nil), [], [], .zero)
    }

    /// The index of the newest live entry.
    private var newest: Int? {
        entries.indices.filter { entries[$0].release.isLive }
            .max { entries[$0].release.version < entries[$1].release.version }
    }

    /// A live version can only be replaced by a newer one: the store has no way back. An answer that contradicts this is not
    /// believed, so that it closes no gate (issue: "never closes what was open").
    private func evidence(
        before: AppStoreConnectEvidence?, at now: Timestamp
    ) throws(SourceFault) -> AppStoreConnectEvidence {
        let offered = newest.map { entries[$0].release }
        if let was = before?.offered {
            guard let offered else {
                let state = entries.first { $0.release.version == was.version }?.release.state
                throw SourceFault(
                    "App Store Connect shows no version that is live; \(was.version), which was, "
                        + (state.map { "is \($0) now" } ?? "is not in the list"))
            }
            guard offered.version >= was.version else {
                throw SourceFault(
                    "App Store Connect shows \(offered.version) as the newest that is live, older than \(was.version), "
                        + "which was before")
            }
        }
        let useful = entries.map(\.release).filter { release in offered.map { $0.version <= release.version } ?? true }
            .sorted { $0.version > $1.version }.prefix(Self.maximumReleases)
        let kept = offered.map { useful.contains($0) ? [] : [$0] } ?? []
        return AppStoreConnectEvidence(askedAt: now, releases: Array(useful) + kept)
    }
}
