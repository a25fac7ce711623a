// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

@testable import PushSimulator
@testable import VersionSources

extension FuzzTarget {
    /// The JSON reader and Foundation's agree as far as they should.
    static let json = FuzzTarget("json") { bytes in
        let value = try? JSONReader.read(bytes)
        guard let value else { return }
        try hold(value.sight.utf8.count <= 4000, "the sight of it is long: \(value.sight.utf8.count)")
        switch value {
        case .object, .array: break
        default: return
        }
        guard let foundation = try? JSONSerialization.jsonObject(with: Data(bytes)) else {
            // Numbers beyond a Double are Foundation's to refuse.
            return try hold(holdsNumber(value), "Foundation refuses what the strict reader takes")
        }
        try hold(isSame(value, foundation), "Foundation reads another value")
    }

    private static func holdsNumber(_ value: WireFormat.JSONValue) -> Bool {
        switch value {
        case .number: true
        case .array(let elements): elements.contains(where: holdsNumber)
        case .object(let members): members.contains { holdsNumber($0.value) }
        default: false
        }
    }

    private static func isSame(_ value: WireFormat.JSONValue, _ other: Any) -> Bool {
        switch (value, other) {
        // Foundation drops a byte order mark at the start of a string (UpgradePayload+Escaping).
        case (.string(let text), let other as String):
            text.utf8.elementsEqual(other.utf8) || text.unicodeScalars.first == "\u{FEFF}"
        case (.array(let elements), let other as [Any]):
            elements.count == other.count && zip(elements, other).allSatisfy { isSame($0, $1) }
        case (.object(let members), let other as [String: Any]):
            members.allSatisfy { member in
                other[member.name].map { isSame(member.value, $0) } ?? (member.name.unicodeScalars.first == "\u{FEFF}")
            }
        case (.number, _ as NSNumber), (.bool, _ as NSNumber), (.null, _ as NSNull): true
        default: false
        }
    }

    /// The relay's own bodies: every value that is read keeps its limits.
    static let bumpBody = FuzzTarget("bump-body") { bytes in
        let app = AppKey(app: "com.example.app", platform: .android)
        let readings = [
            Result(catching: { () throws(BodyError) in try BumpBody.Webhook(bytes).bump() }),
            Result(catching: { () throws(BodyError) in try BumpBody.read(bytes, app: app) }),
        ]
        for reading in readings {
            switch reading {
            case .success(let bump):
                try hold((1...BumpBody.maximumApp).contains(bump.app.app.unicodeScalars.count), "the app's length")
                for text in bump.message.map({ [$0.text] + $0.translations.map(\.text) }) ?? [] {
                    try hold((1...BumpBody.maximumMessage).contains(text.unicodeScalars.count), "the message's length")
                }
                try hold(bump.downloadURL.map { DownloadURL.fault(in: $0) == nil } ?? true, "a URL that is none")
                for text in [bump.downloadURL ?? ""] + (bump.telephones ?? []) {
                    try hold(!text.unicodeScalars.contains { $0.properties.generalCategory == .control }, "a control")
                }
                for telephone in bump.telephones ?? [] {
                    try hold((1...BodyFields.maximumTelephone).contains(telephone.unicodeScalars.count), "a telephone")
                }
            case .failure(let error):
                try holdShort(error, of: bytes)
            }
        }
    }

    /// An answer must not be many times its question.
    static func holdShort(_ error: BodyError, of bytes: [UInt8]) throws {
        let size = error.description.utf8.count
        try hold(size <= 1000 + 300 * bytes.count, "\(bytes.count) bytes are refused with \(size)")
        guard case .fields(let faults) = error else { return }
        for fault in faults {
            try hold(fault.reason.utf8.count + fault.field.utf8.count <= 1000, "a fault is long: \(fault)")
        }
    }

    /// The events of GitHub, GitLab and App Store Connect, and the tag in them.
    static let releaseEvent = FuzzTarget("release-event") { bytes in
        var input = FuzzInput(bytes)
        let (name, tag) = (input.optionalText(), input.text())
        let body = input.remainder()
        var rules = ReleaseRules()
        rules.prereleases = tag.isEmpty
        let readings = [
            Result(catching: { () throws(BodyError) in try GitHubEvent.read(body, name: name, rules: rules) }),
            Result(catching: { () throws(BodyError) in
                try GitLabEvent.read(body, rules: rules, now: "2026-01-31T09:05:07.250Z")
            }),
            Result(catching: { () throws(BodyError) in try AppStoreConnectEvent.read(body).news }),
        ]
        for reading in readings {
            switch reading {
            case .success(.ignored(let reason)):
                try hold(reason.utf8.count <= 2000, "a reason is long: \(reason.utf8.count)")
            case .success: break
            case .failure(let error): try holdShort(error, of: body)
            }
        }
        let read = rules.tagPattern.read(tag)
        let plain = tag.hasPrefix("v") ? String(tag.dropFirst()) : tag
        switch read {
        case .version(let version):
            try hold(version.text.utf8.elementsEqual(plain.utf8), "the tag \(tag) is read as \(version)")
        case .none(let reason):
            try hold(reason.utf8.count <= 2000, "a reason is long: \(reason.utf8.count)")
            try hold((try? Version(plain)) == nil || plain.utf8.contains(10), "the tag \(tag) is not read: \(reason)")
        }
    }

    /// A LaunchGate file from elsewhere; and the relay's own, which is read back.
    static let launchGate = FuzzTarget("launchgate") { bytes in
        switch Result(catching: { () throws(SourceFault) in try LaunchGateReading(bytes) }) {
        case .success(let reading):
            try hold(reading.message != "", "an update without a message")
            if let required = reading.required, let latest = reading.latest {
                try hold(required <= latest, "required \(required) above latest \(latest)")
            }
        case .failure(let fault):
            try hold(fault.description.utf8.count <= 2000, "the fault is long: \(fault.description.utf8.count)")
        }
        var input = FuzzInput(bytes)
        let (version, message, alert) = (input.text(), input.text(), input.optionalText())
        let section = LaunchGateDocument.Section(
            required: .init(minimumVersion: version, message: message),
            alert: alert.map { .init(message: $0, blocking: true) })
        let written = LaunchGateDocument(ios: section, android: section).rendered()
        try hold((try? JSONReader.read(written)) != nil, "no JSON was written")
        guard let version = try? Version(version), !message.isEmpty else { return }
        // No bump holds such a text, so the relay never writes it.
        guard PlainText.fault(in: message, lines: true) == nil else { return }
        let read = try LaunchGateReading(written)
        try hold(
            read.required == version && read.message.map { $0.utf8.elementsEqual(message.utf8) } == true,
            "what was written is read as something else")
    }

    /// The App Store's lookup: the daemon's reader and the library's agree.
    static let storeLookup = FuzzTarget("store-lookup") { bytes in
        switch Result(catching: { () throws(SourceFault) in
            try AppStoreAnswer.read(bytes, of: AppStoreSource(trackID: nil, bundleID: nil), by: .trackID(0))
        }) {
        case .success(let entry):
            guard let library = try? JSONDecoder().decode(AppStoreLookup.self, from: Data(bytes)) else {
                // Foundation refuses numbers that no Double holds.
                return try hold(
                    (try? JSONReader.read(bytes)).map(holdsNumber) == true, "the library refuses what the daemon reads")
            }
            guard let entry else { return try hold(library.version == nil, "the library sees an app") }
            // A version that is written as a number goes through a Double in the library.
            try hold(
                entry.listing.version == library.version || (try? JSONReader.read(bytes)).map(holdsNumber) == true,
                "the daemon reads \(entry.listing.version), the library \(String(describing: library.version))")
        case .failure(let fault):
            try hold(fault.description.utf8.count <= 2000, "the fault is long: \(fault.description.utf8.count)")
        }
    }
}
