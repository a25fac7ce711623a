// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules
package import WireFormat

/// The rules for a bump's contents, whichever way it comes: API, webhook, command, page, watched source, another
/// program's row, and the configuration's values where a bump has none. No other code checks this; how a version
/// compares with others is for `RequirementMachine` to judge.
package struct BumpRules: Hashable, Sendable {
    /// One thing that a bump may be refused for.
    package enum Rule: String, CaseIterable, Sendable {
        /// Apple, CFBundleShortVersionString: "three period-separated integers".
        case versionOfThreeNumbers
        case addressIsReadByPhones
        case addressIsOfAnAllowedScheme
        case messageIsPlain
        case messageIsShort
        case messageHasFewLanguages
        case telephoneIsPlain
        case telephoneIsShort
        case telephonesAreFew
        case codeIsInRange
        case blocksAreFew
    }

    /// The most characters of a message, in each language. A push is 4096 bytes in all (PROTOCOLS 1.2), which the fan-out checks.
    package static let longestMessage = 1000
    /// The most users that a requirement may be for first, by name.
    package static let mostTelephones = ListBound.telephones.limit
    /// The most versions that one bump blocks.
    package static let mostBlocked = ListBound.blockedVersions.limit
    /// The most numbers of a version on iOS.
    package static let mostNumbers = 3

    /// nil: not known, for a caller that judges texts alone.
    package var platform: Platform?
    /// The schemes that the app's download URLs may have beside https. nil: not known; then any scheme passes that is
    /// not refused everywhere.
    package var schemes: [String]?
    /// Whether acts that reach many devices want a second person. Another program's row then waits for one who releases
    /// it, however many devices it reaches.
    package var wantsSecondPerson: Bool

    package init(platform: Platform? = nil, schemes: [String]? = nil, wantsSecondPerson: Bool = false) {
        (self.platform, self.schemes, self.wantsSecondPerson) = (platform, schemes, wantsSecondPerson)
    }

    /// All faults of a bump.
    package func faults(in bump: VersionBump) -> [FieldFault] {
        var faults = numberFaults("required", bump.required) + numberFaults("latest", bump.latest)
        for (place, version) in bump.blocked.enumerated() { faults += numberFaults("blocked[\(place)]", version) }
        if bump.blocked.count > Self.mostBlocked {
            faults.append(
                FieldFault("blocked", "has at most \(Self.mostBlocked) versions; it had \(bump.blocked.count)"))
        }
        faults += textFaults(bump.downloadURL, bump.message)
        faults += telephoneFaults(bump.telephones)
        faults += codeFaults("builds.latest", bump.builds.latest) + codeFaults("builds.required", bump.builds.required)
        if case .set(let minimum?) = bump.minimumOS { faults += numberFaults("minimumOs", minimum, of: "iOS") }
        return faults
    }

    /// All faults of another program's row.
    package func faults(in row: Requirement) -> [FieldFault] {
        numberFaults(row.kind.rawValue, row.version) + textFaults(row.downloadURL, row.message)
            + telephoneFaults(row.canary) + codeFaults("builds.\(row.kind.rawValue)", row.build)
    }

    /// The faults of the texts that users are shown, and of the address that they are led to.
    package func textFaults(_ downloadURL: String?, _ message: LocalizedText?) -> [FieldFault] {
        var faults: [FieldFault] = []
        if let downloadURL, let fault = DownloadURL.fault(in: downloadURL, schemes: schemes) {
            faults.append(FieldFault("downloadUrl", fault))
        }
        guard let message else { return faults }
        if let fault = Self.messageFault(message.text) { faults.append(FieldFault("message", fault)) }
        for translation in message.translations {
            // Already reported for the default text.
            guard !translation.text.utf8.elementsEqual(message.text.utf8) else { continue }
            guard let fault = Self.messageFault(translation.text) else { continue }
            faults.append(FieldFault("message.\(translation.language)", fault))
        }
        if message.translations.count > LocalizedText.maximumLanguages {
            faults.append(
                FieldFault(
                    "message",
                    "has at most \(LocalizedText.maximumLanguages) languages; it had \(message.translations.count)"))
        }
        return faults
    }

    /// The fault of one text of a message; nil: none.
    package static func messageFault(_ text: String) -> String? {
        BodyFields.textFault(text, limit: longestMessage)
    }

    /// The bump with its address as phones read it.
    package func sent(_ bump: VersionBump) -> VersionBump {
        var bump = bump
        bump.downloadURL = bump.downloadURL.map(DownloadURL.sent)
        return bump
    }

    private func numberFaults(_ field: String, _ version: Version?, of what: String = "an iOS app") -> [FieldFault] {
        guard platform == .ios, let version else { return [] }
        let count = version.text.utf8.count { $0 == UInt8(ascii: ".") } + 1
        guard count > Self.mostNumbers else { return [] }
        let first = version.text.split(separator: ".").prefix(Self.mostNumbers).joined(separator: ".")
        return [
            FieldFault(
                field,
                "a version of \(what) has at most \(Self.mostNumbers) numbers, such as \(first); \(version) has \(count)"
            )
        ]
    }

    private func telephoneFaults(_ telephones: [String]?) -> [FieldFault] {
        guard let telephones else { return [] }
        if telephones.isEmpty { return [FieldFault("telephones", "is empty; leave it out to mean everyone")] }
        if telephones.count > Self.mostTelephones {
            return [
                FieldFault("telephones", "has at most \(Self.mostTelephones) numbers; it had \(telephones.count)")
            ]
        }
        for (place, telephone) in telephones.enumerated() {
            let isNone = ValueDoubt.telephone(telephone.utf8) == .noValue
            guard
                let fault = BodyFields.telephoneFault(telephone)
                    ?? (isNone ? "is what a program prints for no value; send the number itself" : nil)
            else { continue }
            return [FieldFault("telephones[\(place)]", fault)]
        }
        return []
    }

    private func codeFaults(_ field: String, _ code: Int64?) -> [FieldFault] {
        guard let code, !BuildNumbers.range.contains(code) else { return [] }
        return [
            FieldFault(
                field,
                "a version code is needed, a whole number from 1 to \(BuildNumbers.range.upperBound); got \(code)")
        ]
    }
}

/// Another program's rows that break the rules.
extension BumpRules {
    /// The beginning of the reason of a row that waits only because it breaks the rules. Such a row is checked again at
    /// each look.
    static let brokenReason = "another program's row breaks the rules: "
    /// The beginning of the reason of a row with a text that is not used.
    static let asideReason = "a text of another program is not said: "

    /// Why a row waits for a person; nil where it need not.
    func reason(against row: Requirement) -> String? {
        // Checks the form that is kept while the row waits, so that the reason is the same at the next look.
        let faults = faults(in: shortened(row))
        guard let first = faults.first else { return nil }
        let others = faults.count > 1 ? "; and \(faults.count - 1) more" : ""
        return Self.brokenReason + "\(first)\(others). Set the row right, or ask for the version by "
            + "\"upgrade-relay version set\""
    }

    /// The row as it is kept while it waits: cut so that megabytes are not read at each look, but still longer than the
    /// rules allow.
    func shortened(_ row: Requirement) -> Requirement {
        func cut(_ text: String, _ limit: Int) -> String {
            let scalars = text.unicodeScalars
            guard let end = scalars.index(scalars.startIndex, offsetBy: limit + 1, limitedBy: scalars.endIndex) else {
                return text
            }
            return String(scalars[..<end])
        }
        var row = row
        row.downloadURL = row.downloadURL.map { cut($0, DownloadURL.maximumLength) }
        if let message = row.message, message.text.unicodeScalars.count > Self.longestMessage {
            row.message = LocalizedText(cut(message.text, Self.longestMessage))
        }
        return row
    }

    /// The row with only the texts that may be shown. If another program has broken a text of a row that is taken up,
    /// the configuration's text is used in its place.
    ///
    /// - Parameter address: replaces an address that breaks the rules; nil: the configuration's does.
    package func sanitised(_ row: Requirement, address: String? = nil) -> Requirement {
        var row = row
        if !textFaults(row.downloadURL, nil).isEmpty {
            row.downloadURL = address.flatMap { textFaults($0, nil).isEmpty ? $0 : nil }
        } else if let url = row.downloadURL {
            row.downloadURL = DownloadURL.sent(url)
        }
        if !textFaults(nil, row.message).isEmpty { row.message = nil }
        return row
    }

    /// The requirements with only the texts that channels may show.
    package func sanitised(_ requirements: Requirements) -> Requirements {
        Requirements(requirements.rows.map { sanitised($0) })
    }
}
