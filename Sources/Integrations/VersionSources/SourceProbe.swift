// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import UpgradeRules

/// One read of a source, for a person who checks its address and its key. No version changes, and nothing is kept.
package struct SourceProbe: Sendable {
    private let questions: any SourceQuestions
    private let clock: @Sendable () -> Timestamp

    package init(clock: @escaping @Sendable () -> Timestamp) {
        self.init(RealQuestions(clock: clock, isStopping: { false }), clock: clock)
    }

    init(_ questions: any SourceQuestions, clock: @escaping @Sendable () -> Timestamp) {
        (self.questions, self.clock) = (questions, clock)
    }

    /// Blocks until the answer is there.
    ///
    /// - Returns: the source's offer, as a sentence.
    /// - Throws: the fault, with a remedy.
    package func read(_ kind: VersionSource.Kind) throws(SourceFault) -> String {
        switch kind {
        case .appStore(let source):
            guard let listing = try lookup(source) else { throw source.isNotListed }
            return "the App Store offers \(listing.version)"
        case .appStoreConnect(let source):
            guard case .page(let page) = try questions.connect(.page(nil), source).answer.get() else {
                throw SourceFault("App Store Connect answered something else than was asked")
            }
            return page.entries.first.map { "App Store Connect has \($0.release.version) as \($0.release.state)" }
                ?? "App Store Connect has no version yet"
        case .googlePlay(let source):
            let releases = try questions.releases(of: source).get()
            let names = releases.compactMap(\.name).prefix(3).joined(separator: ", ")
            return releases.isEmpty
                ? "Google Play has no release on the track \"\(source.track)\" yet"
                : "Google Play has \(releases.count) on the track \"\(source.track)\""
                    + (names.isEmpty ? "" : ": \(names)")
        case .launchGateFile(let path):
            return Self.text(try LaunchGateReading(questions.file(path)))
        case .launchGateURL(let source):
            guard case .body(let bytes, _) = try questions.document(source, since: .init()) else {
                throw SourceFault("HTTP 304 to a question that was not conditional")
            }
            return Self.text(try LaunchGateReading(bytes))
        }
    }

    /// Looks the app up by each of the source's keys, as the watcher does in a round.
    private func lookup(_ source: AppStoreSource) throws(SourceFault) -> StoreListing? {
        var machine = LookupMachine(source: source, start: clock())
        while case .ask(let key) = machine.next(at: clock()) {
            let answer = questions.lookup(key, in: source)
            if let end = machine.answered(answer, known: nil, at: clock()) { return try end.get() }
        }
        throw SourceFault("it names nothing to look up")
    }

    private static func text(_ reading: LaunchGateReading) -> String {
        let parts = [
            reading.required.map { "requires \($0)" }, reading.latest.map { "offers \($0)" },
        ].compactMap(\.self)
        return "the file " + (parts.isEmpty ? "names no version" : parts.joined(separator: " and "))
    }
}

extension AppStoreSource {
    /// The fault for an app that the storefront does not have.
    var isNotListed: SourceFault {
        let country = country.map { "\"\($0)\"" } ?? "the United States; say which `country`"
        return SourceFault("the App Store lists no such app in \(country)")
    }
}

extension VersionSource.Kind {
    /// The name that a store counts questions by, and the time that must pass between two; nil where questions are not counted.
    package var pace: (name: String, spacing: Duration)? {
        switch self {
        case .appStore(let source): (source.paceName, source.spacing)
        case .appStoreConnect(let source): (source.paceName, source.spacing)
        case .googlePlay, .launchGateFile, .launchGateURL: nil
        }
    }
}
