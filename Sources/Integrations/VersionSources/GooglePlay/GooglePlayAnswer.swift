// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import WireFormat

/// A release as `tracks/{track}/releases` lists it: its lifecycle, without the progress of its rollout.
package struct GooglePlaySummary: Hashable, Sendable {
    package var name: String?
    /// At least one.
    package var builds: [Int64]
    /// `releaseLifecycleState` without its prefix: "PUBLISHED" includes rollouts, also those that are halted.
    package var lifecycle: String

    package init(name: String?, builds: [Int64], lifecycle: String) {
        self.name = name
        self.builds = builds
        self.lifecycle = lifecycle
    }

    package var isPublished: Bool { lifecycle == GooglePlayEvidence.Release.published }
}

/// A release as an edit's track shows it: the progress of its rollout, without whether Google has reviewed it.
package struct GooglePlayRollout: Hashable, Sendable {
    package var name: String?
    /// At least one.
    package var builds: [Int64]
    package var status: GooglePlayEvidence.Status
    package var fraction: Double
    /// The only countries that it is offered in, ascending; nil: everywhere.
    package var countries: [String]?
    /// `inAppUpdatePriority`; nil: unknown.
    package var priority: Int?

    package init(
        name: String?, builds: [Int64], status: GooglePlayEvidence.Status, fraction: Double,
        countries: [String]? = nil, priority: Int? = nil
    ) {
        self.name = name
        self.builds = builds
        self.status = status
        self.fraction = fraction
        self.countries = countries
        self.priority = priority
    }
}

/// The bodies of the Google Play Developer API (PROTOCOLS 4.2). Only these of their fields are read; the others may hold
/// anything.
package enum GooglePlayAnswer {
    /// The most bytes of an answer. A track has the release notes of several releases in up to eighty languages.
    package static let maximumSize = 1 << 20
    /// The range of a version code; Google takes up to 2100000000.
    private static let buildRange: ClosedRange<Int64> = 1...Int64(Int32.max)

    /// `ListReleaseSummariesResponse`. The answer for a track that is not used may be empty.
    ///
    /// - Parameter track: the track of the question; releases of other tracks do not count.
    package static func releases(_ body: [UInt8], track: String) throws(SourceFault) -> [GooglePlaySummary] {
        if body.isEmpty { return [] }
        var summaries: [GooglePlaySummary] = []
        var other: SourceFault?
        for (release, path) in try list(body) {
            let named = release["track"]
            if let mismatch = AnswerField.playReleaseTrack.fault(named, at: "\(path).track", wanted: [track]) {
                other = other ?? SourceFault(mismatch)
                continue
            }
            let artifacts = try array("activeArtifacts", of: release, path)
            var builds: [Int64] = []
            for (index, artifact) in artifacts.enumerated() {
                builds.append(try build(artifact["versionCode"], "\(path).activeArtifacts[\(index)].versionCode"))
            }
            guard let state = release["releaseLifecycleState"]?.string else {
                throw SourceFault("\(path) has no \"releaseLifecycleState\"")
            }
            // A release in preparation has none.
            if builds.isEmpty { continue }
            let prefix = "RELEASE_LIFECYCLE_STATE_"
            let lifecycle = state.hasPrefix(prefix) ? String(state.dropFirst(prefix.count)) : state
            guard (1...64).contains(lifecycle.utf8.count),
                lifecycle.utf8.allSatisfy({ $0 == 0x5F || (0x41...0x5A).contains($0) })
            else {
                throw SourceFault(
                    "\(path).releaseLifecycleState is \(JSONValue.string(state).sight), not a word such as PUBLISHED")
            }
            summaries.append(
                GooglePlaySummary(name: release["releaseName"]?.string, builds: builds, lifecycle: lifecycle))
        }
        if summaries.isEmpty, let other { throw other }
        return summaries
    }

    /// `AppEdit`: its id.
    package static func edit(_ body: [UInt8]) throws(SourceFault) -> String {
        guard let id = try AppStoreAnswer.json(body)["id"]?.string, (1...200).contains(id.utf8.count),
            id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), id != ".", id != ".."
        else { throw SourceFault("the edit that was opened has no \"id\"") }
        return id
    }

    /// `Track`.
    ///
    /// - Parameter track: the track of the question.
    package static func track(_ body: [UInt8], track: String) throws(SourceFault) -> [GooglePlayRollout] {
        var rollouts: [GooglePlayRollout] = []
        let named = try AppStoreAnswer.json(body)["track"]
        if let mismatch = AnswerField.playTrack.fault(named, wanted: [track]) { throw SourceFault(mismatch) }
        for (release, path) in try list(body) {
            let word = release["status"]?.string
            guard let status = word.flatMap(GooglePlayEvidence.Status.init(rawValue:)) else {
                let sight = word.map { JSONValue.string($0).sight } ?? "missing"
                throw SourceFault("\(path).status is \(sight), not completed, inProgress, halted or draft")
            }
            var builds: [Int64] = []
            for (index, code) in try array("versionCodes", of: release, path).enumerated() {
                builds.append(try build(code, "\(path).versionCodes[\(index)]"))
            }
            if builds.isEmpty { continue }
            rollouts.append(
                GooglePlayRollout(
                    name: release["name"]?.string, builds: builds, status: status,
                    fraction: try fraction(of: release, status, path), countries: try countries(of: release, path),
                    priority: try priority(of: release, path)))
        }
        return rollouts
    }

    /// "0 < fraction < 1. Can only be set when status is inProgress or halted" (Google, `TrackRelease`). A release that
    /// was halted after it had reached all users has none.
    private static func fraction(
        of release: JSONValue, _ status: GooglePlayEvidence.Status, _ path: String
    ) throws(SourceFault) -> Double {
        let given = release["userFraction"].flatMap { $0 == .null ? nil : $0 }
        switch (status, given) {
        case (.draft, _): return 0
        case (.completed, _), (.halted, nil): return 1
        case (.inProgress, nil): throw SourceFault("\(path) is inProgress and has no \"userFraction\"")
        case (.inProgress, let value?), (.halted, let value?):
            guard let number = value.number, number >= 0, number <= 1 else {
                throw SourceFault("\(path).userFraction is \(value.sight), not a number from 0 to 1")
            }
            return number
        }
    }

    /// "Countries to target, specified as two letter CLDR codes", and "include 'rest of world' as well as explicitly targeted
    /// countries" (Google, `CountryTargeting`): with that it is offered everywhere.
    private static func countries(of release: JSONValue, _ path: String) throws(SourceFault) -> [String]? {
        guard let targeting = release["countryTargeting"], targeting != .null else { return nil }
        let path = "\(path).countryTargeting"
        let elements = try array("countries", of: targeting, path)
        if targeting["includeRestOfWorld"]?.bool == true { return nil }
        var countries: Set<String> = []
        for (index, element) in elements.enumerated() {
            guard let text = element.string?.uppercased(), CountryCode.isOne(text.utf8) else {
                throw SourceFault("\(path).countries[\(index)] is \(element.sight), not a country such as \"DE\"")
            }
            countries.insert(text)
        }
        return countries.sorted()
    }

    /// "In-app update priority of the release … in the range [0, 5] … Defaults to 0" (Google, `TrackRelease`).
    private static func priority(of release: JSONValue, _ path: String) throws(SourceFault) -> Int {
        guard let value = release["inAppUpdatePriority"], value != .null else { return 0 }
        guard let priority = value.integer, GooglePlayEvidence.priorities.contains(priority) else {
            throw SourceFault("\(path).inAppUpdatePriority is \(value.sight), not a whole number from 0 to 5")
        }
        return Int(priority)
    }

    private static func list(_ body: [UInt8]) throws(SourceFault) -> [(release: JSONValue, path: String)] {
        let answer = try AppStoreAnswer.json(body)
        guard answer.object != nil else { throw SourceFault("the answer is not a JSON object") }
        let releases = try array("releases", of: answer, "")
        return releases.enumerated().map { ($0.element, "releases[\($0.offset)]") }
    }

    /// Empty where the member is absent: Google leaves out empty ones (proto3).
    private static func array(_ name: String, of value: JSONValue, _ path: String) throws(SourceFault) -> [JSONValue] {
        guard value.object != nil else { throw SourceFault("\(path) is \(value.sight), not an object") }
        switch value[name] {
        case nil, .null?: return []
        case .array(let elements)?: return elements
        case let other?:
            throw SourceFault("\(path.isEmpty ? "" : "\(path).")\(name) is \(other.sight), not a list")
        }
    }

    /// Google's JSON has an int64 as a string, and an int32 as a number.
    private static func build(_ value: JSONValue?, _ path: String) throws(SourceFault) -> Int64 {
        guard let number = value.flatMap({ $0.integer ?? $0.string.flatMap { Int64($0) } }),
            buildRange.contains(number)
        else { throw SourceFault("\(path) is \(value?.sight ?? "missing"), not a version code") }
        return number
    }
}
