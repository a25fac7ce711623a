// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import UpgradeRules
import WireFormat

/// A store's answer as JSON in the relay's store. `askedAt` is kept beside it: most of the time only that changes.
extension StoreEvidence {
    /// Equal evidence gives equal text, so that an unchanged answer is not written again.
    package var said: String {
        let value: JSONValue =
            switch self {
            case .appStore(let lookup):
                [
                    "version": lookup.version.map { .string($0.text) },
                    "releasedAt": lookup.releasedAt.map { .integer($0.milliseconds) },
                    "firstShownAt": .integer(lookup.firstShownAt.milliseconds),
                ]
            case .appStoreConnect(let answer):
                [
                    "releases": .array(
                        answer.releases.map { release in
                            [
                                "version": .string(release.version.text), "state": .string(release.state),
                                "phase": release.phase.map { .string($0.rawValue) },
                            ]
                        })
                ]
            case .googlePlay(let track):
                [
                    "track": .string(track.track),
                    "releases": .array(
                        track.releases.map { release in
                            [
                                "build": .integer(release.build),
                                "version": release.version.map { .string($0.text) },
                                "status": .string(release.status.rawValue), "fraction": .number("\(release.fraction)"),
                                "lifecycle": .string(release.lifecycle),
                                "countries": release.countries.map { .array($0.map(JSONValue.string)) },
                                "priority": release.priority.map { .integer(Int64($0)) },
                                "minimumOs": release.minimumOS.map { .string($0.text) },
                            ]
                        }),
                ]
            }
        return String(decoding: value.bytes(), as: UTF8.self)
    }

    /// - Throws: `SourceFault` for a text that `said` does not produce; it names the member, its value, and a right one.
    package init(_ kind: StoreKind, said: String, askedAt: Timestamp) throws(SourceFault) {
        let value: JSONValue
        do throws(JSONSyntaxError) {
            value = try JSONReader.read(Array(said.utf8))
        } catch {
            throw SourceFault("it is not JSON, \(error)")
        }
        var members = try EvidenceMembers(value, "")
        switch kind {
        case .appStore:
            self = .appStore(
                LookupEvidence(
                    askedAt: askedAt, version: try members.version(), releasedAt: try members.time("releasedAt"),
                    firstShownAt: try members.requiredTime("firstShownAt")))
        case .appStoreConnect:
            let releases = try members.list("releases") { one throws(SourceFault) in
                AppStoreConnectEvidence.Release(
                    version: try one.requiredVersion(), state: try one.words("state"), phase: try one.phase())
            }
            self = .appStoreConnect(AppStoreConnectEvidence(askedAt: askedAt, releases: releases))
        case .googlePlay:
            let track = try members.words("track")
            let releases = try members.list("releases") { one throws(SourceFault) in
                GooglePlayEvidence.Release(
                    build: try one.build(), version: try one.version(), status: try one.status(),
                    fraction: try one.fraction(), lifecycle: try one.words("lifecycle"),
                    countries: try one.countries(), priority: try one.priority(),
                    minimumOS: try one.version("minimumOs"))
            }
            self = .googlePlay(GooglePlayEvidence(askedAt: askedAt, track: track, releases: releases))
        }
        try members.finish()
    }
}

/// The members of an object. Each is taken once; any that remain are refused.
private struct EvidenceMembers {
    private var members: [JSONMember]
    private let place: String

    init(_ value: JSONValue, _ place: String) throws(SourceFault) {
        guard case .object(let members) = value else {
            throw SourceFault("\(place.isEmpty ? "it" : place) is \(value.sight), not an object")
        }
        (self.members, self.place) = (members, place)
    }

    private mutating func take(_ name: String) -> JSONValue? {
        members.firstIndex { $0.name == name }.map { members.remove(at: $0).value }
    }

    private func fault(_ name: String, _ value: JSONValue?, _ right: String) -> SourceFault {
        SourceFault("\(place.isEmpty ? "" : "\(place).")\(name) is \(value?.sight ?? "missing"), not \(right)")
    }

    func finish() throws(SourceFault) {
        guard let member = members.first else { return }
        throw SourceFault(
            "\(place.isEmpty ? "it" : place) has a member \(JSONValue.string(member.name).sight), which is not known")
    }

    mutating func list<Element>(
        _ name: String, _ read: (inout EvidenceMembers) throws(SourceFault) -> Element
    ) throws(SourceFault) -> [Element] {
        let value = take(name)
        guard case .array(let values)? = value else { throw fault(name, value, "a list") }
        var elements: [Element] = []
        for (index, value) in values.enumerated() {
            var members = try EvidenceMembers(value, "\(name)[\(index)]")
            elements.append(try read(&members))
            try members.finish()
        }
        return elements
    }

    mutating func version(_ name: String = "version") throws(SourceFault) -> Version? {
        guard let value = take(name) else { return nil }
        guard let version = value.string.flatMap({ try? Version($0) }) else {
            throw fault(name, value, "a version such as \"2.1.0\"")
        }
        return version
    }

    mutating func time(_ name: String) throws(SourceFault) -> Timestamp? {
        guard let value = take(name) else { return nil }
        guard let milliseconds = value.integer, milliseconds > 0 else {
            throw fault(name, value, "milliseconds since 1970")
        }
        return Timestamp(milliseconds: milliseconds)
    }

    mutating func requiredVersion() throws(SourceFault) -> Version {
        guard let version = try version() else { throw fault("version", nil, "a version such as \"2.1.0\"") }
        return version
    }

    mutating func requiredTime(_ name: String) throws(SourceFault) -> Timestamp {
        guard let time = try time(name) else { throw fault(name, nil, "milliseconds since 1970") }
        return time
    }

    /// A text that is shown to users unchanged.
    mutating func words(_ name: String) throws(SourceFault) -> String {
        let value = take(name)
        guard let text = value?.string, (1...255).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { throw fault(name, value, "a text of 1 to 255 bytes without control characters") }
        return text
    }

    mutating func phase() throws(SourceFault) -> AppStoreConnectEvidence.Phase? {
        guard let value = take("phase") else { return nil }
        guard let phase = value.string.flatMap(AppStoreConnectEvidence.Phase.init(rawValue:)) else {
            throw fault("phase", value, "INACTIVE, ACTIVE, PAUSED or COMPLETE")
        }
        return phase
    }

    mutating func status() throws(SourceFault) -> GooglePlayEvidence.Status {
        let value = take("status")
        guard let status = value?.string.flatMap(GooglePlayEvidence.Status.init(rawValue:)) else {
            throw fault("status", value, "completed, inProgress, halted or draft")
        }
        return status
    }

    mutating func build() throws(SourceFault) -> Int64 {
        let value = take("build")
        guard let build = value?.integer, (0...Int64(Int32.max)).contains(build) else {
            throw fault("build", value, "a version code")
        }
        return build
    }

    mutating func fraction() throws(SourceFault) -> Double {
        let value = take("fraction")
        guard let fraction = value?.number, (0...1).contains(fraction) else {
            throw fault("fraction", value, "a number from 0 to 1")
        }
        return fraction
    }

    /// The countries; nil: all. A row written before countries were kept by name has only a flag that there are some;
    /// it gives an empty list.
    mutating func countries() throws(SourceFault) -> [String]? {
        if try flag("isForSomeCountries") { return [] }
        guard let value = take("countries") else { return nil }
        guard case .array(let elements) = value else { throw fault("countries", value, "a list") }
        var countries: [String] = []
        for element in elements {
            guard let country = element.string, CountryCode.isOne(country.utf8) else {
                throw fault("countries", element, "a country such as \"DE\"")
            }
            countries.append(country)
        }
        return countries
    }

    mutating func priority() throws(SourceFault) -> Int? {
        guard let value = take("priority") else { return nil }
        guard let priority = value.integer, GooglePlayEvidence.priorities.contains(priority) else {
            throw fault("priority", value, "a whole number from 0 to 5")
        }
        return Int(priority)
    }

    mutating func flag(_ name: String) throws(SourceFault) -> Bool {
        guard let value = take(name) else { return false }
        guard let flag = value.bool else { throw fault(name, value, "true or false") }
        return flag
    }
}
