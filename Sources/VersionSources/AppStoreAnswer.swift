// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import UpgradeRules
import WireFormat

/// One app as the App Store's lookup describes it. Of its forty-odd fields only these matter; the others may be anything.
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

    /// - Returns: nil for an empty `results`: the app is not in that storefront.
    package static func read(_ body: [UInt8]) throws(SourceFault) -> AppStoreEntry? {
        let answer = try json(body)
        guard case .object = answer else { throw SourceFault("the answer is not a JSON object") }
        guard case .array(let results)? = answer.find(["results"]) else {
            throw SourceFault("the answer has no list \"results\"")
        }
        guard let first = results.first else { return nil }
        guard case .object = first else { throw SourceFault("results[0] is \(first.sight), not an object") }
        // A string, or a number's own text: the store writes `fileSizeBytes` as one and `artistId` as the other.
        func text(_ name: String) -> String? {
            switch first.find([name]) {
            case .string(let text)?, .number(let text)?: text
            default: nil
            }
        }
        guard let version = text("version") else { throw SourceFault("results[0] has no \"version\"") }
        do throws(VersionError) {
            return AppStoreEntry(
                listing: StoreListing(
                    version: try Version(version), trackViewURL: text("trackViewUrl"),
                    releasedAt: text("currentVersionReleaseDate").flatMap(Timestamp.init(internetTime:)),
                    minimumOS: text("minimumOsVersion").flatMap { try? Version($0) }),
                bundleID: text("bundleId"), trackID: text("trackId").flatMap { Int64($0) })
        } catch {
            throw SourceFault("results[0].version: \(error)")
        }
    }

    /// Any source's JSON, with a word for what is often sent in its place.
    static func json(_ body: [UInt8]) throws(SourceFault) -> JSONValue {
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
