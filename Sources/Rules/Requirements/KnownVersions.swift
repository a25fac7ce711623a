// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules
import WireFormat

/// The evidence for a version that is asked for, beside the versions that are required or announced already. A
/// rise without evidence needs a confirmation (DESIGN, rule 11): it would lock everybody out of the app, with
/// nothing to install.
package struct KnownVersions: Hashable, Sendable {
    /// The highest version that a store of the app offers; nil: none does, or none is asked.
    package var offered: Version?
    /// The versions that devices were seen with.
    package var seen: SeenVersions

    /// Fewer devices may be one person's telephones, or one person's false reports.
    package static let enough: Int64 = 10
    /// At least one in this many of the devices whose version is known: ten telephones are no evidence among millions.
    package static let share: Int64 = 100

    /// The evidence for a caller that doubts no version.
    package static let everything = KnownVersions(
        offered: try? Version(String(repeating: "9", count: Version.maximumDigits)))

    package init(offered: Version? = nil, seen: SeenVersions = SeenVersions()) {
        self.offered = offered
        self.seen = seen
    }

    /// The highest version beyond doubt: the highest of those that were announced, that a store offers, and that at
    /// least ten devices and one in a hundred run (newer versions counted in). Where there is none, the version of the
    /// device in the middle. nil: nothing is known. A number that no release has (`ValueDoubt`) is no evidence.
    ///
    /// - Parameter announced: the highest version that is required or announced.
    package func highest(_ announced: Version?) -> Version? {
        let falling = seen.versions.filter { $0.version == .zero || ValueDoubt.version($0.version.text.utf8) == nil }
            .sorted { $0.version > $1.version }
        func reached(_ count: Int64) -> Version? {
            var devices: Int64 = 0
            return falling.first { one in
                devices += one.devices
                return devices >= count
            }?.version
        }
        let all = falling.reduce(0) { $0 + $1.devices }
        return [announced, offered, reached(max(Self.enough, (all + Self.share - 1) / Self.share))].compactMap(\.self)
            .max() ?? reached(all / 2 + 1)
    }

    /// Whether a version is neither known nor a plausible next one.
    package func doubts(_ version: Version, announced: Version?) -> Bool {
        highest(announced).map { version > $0 && !Self.mayFollow(version, $0) } ?? false
    }

    /// A digit too many makes a number larger by nine at least. So the first number may rise by one, and a later one by
    /// eight, or by a tenth where that is more, as for a build number. The numbers behind the one that rose begin anew.
    private static func mayFollow(_ version: Version, _ known: Version) -> Bool {
        func number(_ place: Int, _ version: Version) -> UInt64 {
            place < version.segments.count ? version.segments[place] : 0
        }
        var hasRisen = false
        for place in 0..<max(version.segments.count, known.segments.count) {
            let (new, old) = (number(place, version), number(place, known))
            let most =
                hasRisen ? max(9, old + old / 10) : place == 0 ? old + 1 : old + max(8, old / 10)
            if new > most { return false }
            if new != old { hasRisen = true }
        }
        return true
    }

    /// The first version in a bump that no evidence supports and no person has confirmed.
    package func doubt(_ bump: VersionBump, _ requirements: Requirements) -> (field: String, version: Version)? {
        doubts(bump, requirements).first { !bump.confirms(Doubt(.implausibleRise, $0.version)) }
    }

    /// The versions in a bump that no evidence supports.
    package func doubts(_ bump: VersionBump, _ requirements: Requirements) -> [(field: String, version: Version)] {
        let announced = requirements.takenUp.latest?.version
        return [("required", bump.required), ("latest", bump.latest)].compactMap { field, version in
            version.flatMap { doubts($0, announced: announced) ? (field, $0) : nil }
        }
    }

    /// Why another program's row waits for a person; nil where it need not.
    func doubt(_ row: Requirement, _ requirements: Requirements) -> String? {
        let announced = requirements.takenUp.latest?.version
        guard doubts(row.version, announced: announced) else { return nil }
        let command = row.kind == .required ? "version release" : "version set --latest \(row.version) --yes"
        return Self.doubt(row.version, known: highest(announced))
            + ". If it is meant, a person has to say so: \"upgrade-relay \(command)\""
    }

    /// The doubt in words.
    package static func doubt(_ version: Version, of app: String? = nil, known: Version?) -> String {
        "\(version)\(app.map { " of \($0)" } ?? "") looks like a typing error: no store offers it, nothing announced it, and fewer than "
            + "\(enough) devices, or than one in \(share), were seen with it or a newer one; the highest version beyond doubt is \(known?.text ?? "none")"
    }
}
