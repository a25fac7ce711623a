// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import UpgradeRules
import WireFormat

/// One page of an app's versions.
package struct AppStoreConnectPage: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        /// The version's id in App Store Connect.
        package var id: String
        package var release: AppStoreConnectEvidence.Release
        /// Whether the page shows if the version has a phased release, and in which state.
        package var isPhaseKnown: Bool

        package init(id: String, release: AppStoreConnectEvidence.Release, isPhaseKnown: Bool) {
            self.id = id
            self.release = release
            self.isPhaseKnown = isPhaseKnown
        }
    }

    package var entries: [Entry]
    /// The next page's link; nil on the last.
    package var next: String?

    package init(entries: [Entry], next: String? = nil) {
        self.entries = entries
        self.next = next
    }
}

/// The bodies of App Store Connect's API: JSON:API documents (PROTOCOLS 4.1).
package enum AppStoreConnectAnswer {
    /// The most bytes of an answer. A page of 200 versions has some 150,000.
    package static let maximumSize = 2 << 20
    /// Values of the older field `appStoreState`: the app was taken from sale, which `appVersionState` does not show.
    private static let withdrawn = ["REMOVED_FROM_SALE", "DEVELOPER_REMOVED_FROM_SALE"]
    private static let relationship = "appStoreVersionPhasedRelease"

    /// `GET /v1/apps/{id}/appStoreVersions`, with the phased releases included.
    package static func page(
        _ body: [UInt8], of source: AppStoreConnectSource
    ) throws(SourceFault) -> AppStoreConnectPage {
        let answer = try AppStoreAnswer.json(body)
        guard case .object = answer else { throw SourceFault("the answer is not a JSON object") }
        guard case .array(let data)? = answer.find(["data"]) else {
            throw SourceFault("the answer has no list \"data\"")
        }
        if let link = answer.find(["links", "self"])?.string, !isOf(source, link) {
            throw SourceFault("the answer is for \(shown(link)), not for the app \(source.appID)")
        }
        let phases = try included(answer)
        var entries: [AppStoreConnectPage.Entry] = []
        var other: SourceFault?
        for (index, element) in data.enumerated() {
            let place = "data[\(index)]"
            if let mismatch = mismatch(element, place, source) {
                other = other ?? SourceFault(mismatch)
            } else if let entry = try entry(element, place, phases) {
                entries.append(entry)
            }
        }
        if entries.isEmpty, let other { throw other }
        // "self: (Required) The link that produced the current document" (Apple, `PagedDocumentLinks`): no other field names
        // the app.
        if let missing = AnswerField.connectList.fault(
            answer.find(["links", "self"]), wanted: [answer.find(["links", "self"])?.string ?? source.list],
            isNeeded: true)
        {
            throw SourceFault(missing)
        }
        return AppStoreConnectPage(entries: entries, next: try next(answer, source))
    }

    /// Why a version is not one of those that were asked for; nil: it is.
    private static func mismatch(_ element: JSONValue, _ place: String, _ source: AppStoreConnectSource) -> String? {
        func fault(_ field: AnswerField, _ path: [String], _ wanted: String) -> String? {
            field.fault(element.find(path), at: "\(place).\(path.joined(separator: "."))", wanted: [wanted])
        }
        return fault(.connectApp, ["relationships", "app", "data", "id"], String(source.appID))
            ?? fault(.connectPlatform, ["attributes", "platform"], "IOS")
    }

    /// `GET /v1/appStoreVersions/{id}/appStoreVersionPhasedRelease`; nil where `data` is null.
    ///
    /// - Parameter version: the id of the version that was asked for.
    package static func phase(
        _ body: [UInt8], of version: String
    ) throws(SourceFault) -> AppStoreConnectEvidence.Phase? {
        let answer = try AppStoreAnswer.json(body)
        guard let data = answer["data"] else { throw SourceFault("the answer has no \"data\"") }
        let link = answer.find(["links", "self"])?.string
        if let link, !link.contains("/appStoreVersions/\(version)/") {
            throw SourceFault("the answer is for \(shown(link)), not for the version \(version)")
        }
        if data != .null,
            let fault = AnswerField.connectPhaseType.fault(
                data.find(["type"]), wanted: ["appStoreVersionPhasedReleases"], isNeeded: true)
        {
            throw SourceFault(fault)
        }
        return data == .null ? nil : try phase(data.find(["attributes", "phasedReleaseState"]), "data.attributes")
    }

    // MARK: Parts

    /// nil for a version that is not live and whose number cannot be read: it has no bearing on the version offered now.
    private static func entry(
        _ element: JSONValue, _ place: String, _ phases: [String: JSONValue]
    ) throws(SourceFault) -> AppStoreConnectPage.Entry? {
        guard case .object = element else { throw SourceFault("\(place) is \(element.sight), not an object") }
        guard element.find(["type"])?.string == "appStoreVersions", let id = element.find(["id"])?.string, isID(id)
        else { throw SourceFault("\(place) is no appStoreVersions with an id") }
        guard let text = element.find(["attributes", "versionString"])?.string else {
            throw SourceFault("\(place) has no versionString")
        }
        let state = try state(element, place)
        let version: Version
        do throws(VersionError) {
            version = try Version(text)
        } catch {
            guard state == AppStoreConnectEvidence.Release.live else { return nil }
            throw SourceFault("\(place).attributes.versionString: \(error)")
        }
        var release = AppStoreConnectEvidence.Release(version: version, state: state)
        guard release.isLive else { return .init(id: id, release: release, isPhaseKnown: true) }
        // `data` is there only where the relationship was included: null means that there is no phased release.
        guard let linked = element.find(["relationships", relationship])?["data"] else {
            return .init(id: id, release: release, isPhaseKnown: false)
        }
        guard linked != .null else { return .init(id: id, release: release, isPhaseKnown: true) }
        guard let linkedID = linked.find(["id"])?.string, let state = phases[linkedID] else {
            return .init(id: id, release: release, isPhaseKnown: false)
        }
        release.phase = try phase(state, "included")
        return .init(id: id, release: release, isPhaseKnown: true)
    }

    /// `appVersionState`, or the older `appStoreState` in its place.
    private static func state(_ element: JSONValue, _ place: String) throws(SourceFault) -> String {
        let older = element.find(["attributes", "appStoreState"])?.string
        if let older, withdrawn.contains(older) { return older }
        guard let state = element.find(["attributes", "appVersionState"])?.string ?? older, isWord(state) else {
            throw SourceFault("\(place) has no appVersionState")
        }
        let live = AppStoreConnectEvidence.Release.live
        let words = [live, "READY_FOR_SALE"]
        guard words.contains(state) else { return state }
        // Users cannot get a version that one of the two fields shows as not out yet, such as a pre-order.
        if let older, AnswerField.connectOlderState.fault(.string(older), wanted: words) != nil {
            guard isWord(older) else { throw SourceFault("\(place).attributes.appStoreState is no word") }
            return older
        }
        // "downloadable": whether people can get this version at all.
        return element.find(["attributes", "downloadable"])?.bool == false ? "\(live), but not downloadable" : live
    }

    /// The phased releases' states, by id. Only those of live versions must make sense.
    private static func included(_ answer: JSONValue) throws(SourceFault) -> [String: JSONValue] {
        guard let included = answer.find(["included"]) else { return [:] }
        guard case .array(let list) = included else {
            throw SourceFault("\"included\" is \(included.sight), not a list")
        }
        var phases: [String: JSONValue] = [:]
        for element in list where element.find(["type"])?.string == "appStoreVersionPhasedReleases" {
            guard let id = element.find(["id"])?.string else { continue }
            phases[id] = element.find(["attributes", "phasedReleaseState"]) ?? .null
        }
        return phases
    }

    private static func phase(
        _ value: JSONValue?, _ place: String
    ) throws(SourceFault) -> AppStoreConnectEvidence.Phase {
        guard let word = value?.string, let phase = AppStoreConnectEvidence.Phase(rawValue: word) else {
            throw SourceFault(
                "\(place): phasedReleaseState is \((value ?? .null).sight); INACTIVE, ACTIVE, PAUSED or COMPLETE is known"
            )
        }
        return phase
    }

    /// The next question sends the token along, so its link must lead to the same server and the same list.
    private static func next(_ answer: JSONValue, _ source: AppStoreConnectSource) throws(SourceFault) -> String? {
        guard let value = answer.find(["links", "next"]) else { return nil }
        guard let link = value.string, isOf(source, link), link.utf8.count <= 2048,
            link.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw SourceFault("links.next leads elsewhere: \(value.string.map(shown) ?? value.sight)") }
        return link
    }

    private static func isOf(_ source: AppStoreConnectSource, _ link: String) -> Bool {
        link.utf8.elementsEqual(source.list.utf8) || link.utf8.starts(with: (source.list + "?").utf8)
    }

    /// Checked, as the id becomes part of a path.
    private static func isID(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == UInt8(ascii: "-")
            }
    }

    /// States are an open set (PROTOCOLS 3.3), but each is one word.
    private static func isWord(_ text: String) -> Bool {
        (1...60).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_")
            }
    }

    private static func shown(_ link: String) -> String {
        let plain = ShownAddress.withoutSecrets(link).unicodeScalars.filter {
            $0.isASCII && $0.value > 0x20 && $0.value < 0x7F
        }
        return "\(String(String.UnicodeScalarView(plain)).prefix(100))"
    }
}
