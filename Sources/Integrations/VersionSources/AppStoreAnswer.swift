// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import UpgradeRules
import WireFormat

/// One app as the App Store's lookup describes it. Only these of its forty-odd fields are read; the others may hold anything.
package struct AppStoreEntry: Hashable, Sendable {
    package var listing: StoreListing
    package var bundleID: String?
    package var trackID: Int64?

    package init(listing: StoreListing, bundleID: String? = nil, trackID: Int64? = nil) {
        self.listing = listing
        self.bundleID = bundleID
        self.trackID = trackID
    }
}

/// The body of `https://itunes.apple.com/lookup` (PROTOCOLS 4).
package enum AppStoreAnswer {
    /// The most bytes of an answer; real ones have some ten thousand.
    package static let maximumSize = 1 << 20

    /// The app that was asked for, at any place in the list; the newest where it is listed more than once.
    ///
    /// - Parameter key: the key that the question used.
    /// - Returns: nil for an empty `results`: the app is not in that storefront.
    /// - Throws: `SourceFault` where the list has entries and none of them is the app.
    package static func read(
        _ body: [UInt8], of source: AppStoreSource, by key: LookupKey
    ) throws(SourceFault) -> AppStoreEntry? {
        let answer = try json(body)
        guard case .object = answer else { throw SourceFault("the answer is not a JSON object") }
        guard case .array(let results)? = answer.find(["results"]) else {
            throw SourceFault("the answer has no list \"results\"")
        }
        var first: SourceFault?
        var newest: AppStoreEntry?
        for (index, result) in results.enumerated() {
            let place = "results[\(index)]"
            if let mismatch = mismatch(result, place, source, key) {
                first = first ?? SourceFault(mismatch)
            } else {
                let entry = try entry(result, place)
                if newest.map({ $0.listing.version < entry.listing.version }) ?? true { newest = entry }
            }
        }
        if newest == nil, let first { throw first }
        return newest
    }

    /// Why a result is not the app that was asked for; nil: it is.
    private static func mismatch(
        _ result: JSONValue, _ place: String, _ source: AppStoreSource, _ key: LookupKey
    ) -> String? {
        guard case .object = result else { return "\(place) is \(result.sight), not an object" }
        var (isByTrack, isByBundle) = (false, false)
        switch key {
        case .trackID: isByTrack = true
        case .bundleID: isByBundle = true
        }
        func fault(_ field: AnswerField, _ name: String, _ wanted: [String], isNeeded: Bool = false) -> String? {
            wanted.isEmpty
                ? nil : field.fault(result.find([name]), at: "\(place).\(name)", wanted: wanted, isNeeded: isNeeded)
        }
        return fault(.lookupWrapper, "wrapperType", ["software"]) ?? fault(.lookupKind, "kind", ["software"])
            ?? fault(.lookupTrack, "trackId", [source.trackID.map(String.init)].compactMap(\.self), isNeeded: isByTrack)
            ?? fault(.lookupBundle, "bundleId", [source.bundleID].compactMap(\.self), isNeeded: isByBundle)
            ?? storefront(of: result).flatMap { country in
                AnswerField.lookupStorefront.fault(
                    .string(country), at: "the country of \(place).trackViewUrl", wanted: [source.country ?? "us"])
            }
    }

    /// "cn" of https://apps.apple.com/cn/app/id1; nil for any other kind of address.
    private static func storefront(of result: JSONValue) -> String? {
        guard let parts = result.find(["trackViewUrl"])?.string?.split(separator: "/", maxSplits: 8), parts.count > 3,
            ["apps.apple.com", "itunes.apple.com"].contains(parts[1]), parts[2].utf8.count == 2, parts[3] == "app"
        else { return nil }
        return parts[2].lowercased()
    }

    private static func entry(_ result: JSONValue, _ place: String) throws(SourceFault) -> AppStoreEntry {
        // A string, or a number's own text: the store writes `fileSizeBytes` as a string and `artistId` as a number.
        func text(_ name: String) -> String? {
            switch result.find([name]) {
            case .string(let text)?, .number(let text)?: text
            default: nil
            }
        }
        guard let version = text("version") else { throw SourceFault("\(place) has no \"version\"") }
        do throws(VersionError) {
            return AppStoreEntry(
                listing: StoreListing(
                    version: try Version(version), trackViewURL: text("trackViewUrl"),
                    releasedAt: text("currentVersionReleaseDate").flatMap(Timestamp.init(internetTime:)),
                    minimumOS: text("minimumOsVersion").flatMap { try? Version($0) }),
                bundleID: text("bundleId"), trackID: text("trackId").flatMap { Int64($0) })
        } catch {
            throw SourceFault("\(place).version: \(error)")
        }
    }

    /// Reads any source's JSON; an empty body and an HTML page, which are often sent instead, have faults of their own.
    static func json(_ answer: [UInt8]) throws(SourceFault) -> JSONValue {
        let body: [UInt8]
        do throws(TextFile.Fault) {
            body = try TextFile.utf8(answer)
        } catch {
            throw SourceFault("the answer \(error)")
        }
        let start = body.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        if start == nil { throw SourceFault("the answer is empty") }
        if start == UInt8(ascii: "<") { throw SourceFault("the answer is a page (HTML), not JSON") }
        do throws(JSONSyntaxError) {
            return try JSONReader.read(body)
        } catch {
            throw SourceFault("the answer is not JSON, \(error)")
        }
    }
}
