// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules
import VersionSources
import WireFormat

@testable import RelayAPI

@Suite("A line of an import, read in two ways")
struct DeviceFieldsTests {
    /// The change that each reader makes of a line; `plain` is nil where the plain reader leaves the line to the full one.
    private func readings(
        _ text: String, _ platform: Platform
    ) throws -> (plain: DeviceChange?, full: DeviceChange?) {
        let app = AppKey(app: "com.example.app", platform: platform)
        let bytes = Array(text.utf8)
        var batch = RegistrationBatch(app: app)
        let isPlain = DeviceFields.readPlain(bytes, in: 0..<bytes.count, into: &batch)
        #expect(batch.count == (isPlain ? 1 : 0))
        return (
            isPlain ? try change(batch, 0) : nil,
            try? DeviceFields.readLine(bytes, in: 0..<bytes.count, app: app)
        )
    }

    private func change(_ batch: RegistrationBatch, _ row: Int) throws -> DeviceChange {
        let row = batch.rows[row]
        func text(_ slice: ByteSlice) -> String? {
            slice.isAbsent ? nil : String(decoding: batch.bytes[slice.range], as: UTF8.self)
        }
        var change = DeviceChange(
            token: try #require(text(row.token)),
            // An environment that is forgotten is production.
            environment: row.kept.contains(.environment)
                ? .keep : .set(row.channel == .production ? nil : row.channel.environment),
            registeredAt: row.registeredAt, deadSince: row.deadSince, seenAt: row.seenAt)
        for field in DeviceField.texts where !row.kept.contains(field) {
            change[text: field] = .set(text(row.texts[field]))
        }
        return change
    }

    @Test(
        "Nearly all lines take the short way, with the same result",
        arguments: [
            #"{"token":"FFee"}"#, #"{"token":"ff","telephone":"13800138000","version":"1.02.0"}"#,
            #"{"token":"ff","telephone":null,"version":null,"environment":null,"app":null,"platform":null}"#,
            #"{"app":"com.example.app","platform":"ios","token":"ff","environment":"sandbox"}"#,
            #"{"token":"ff","telephone":" +86 138","environment":"production"}"#,
            #"{"token":"ff","registeredAt":"2026-01-31T09:05:07.250Z","deadSince":null}"#,
            #"{"token":"ff","registeredAt":null,"deadSince":"2026-01-31T17:05:07+08:00"}"#,
            #"{"token":"ff","version":"1.0","seenAt":"2026-01-31T17:05:07+08:00"}"#,
            #"{"token":"ff","osVersion":"17.04","country":"DE"}"#, #"{"token":"ff","osVersion":null,"country":null}"#,
        ])
    func plain(line: String) throws {
        let (plain, full) = try readings(line, .ios)
        #expect(plain != nil)
        #expect(plain == full.map(Self.withoutDefault))
        #expect(plain?.version.value?.text == full?.version.value?.text)
    }

    @Test("Case makes no difference in a platform, an environment and a country")
    func anyCase() throws {
        let (plain, full) = try readings(
            #"{"token":"ff","platform":"iOS","environment":"Sandbox","country":"de"}"#, .ios)
        #expect(plain == nil && full?.environment == .set(.sandbox) && full?.country == .set("DE"))
    }

    private static func withoutDefault(_ change: DeviceChange) -> DeviceChange {
        var change = change
        if change.environment == .set(.production) { change.environment = .set(nil) }
        return change
    }

    @Test("An Android token keeps its case")
    func android() throws {
        let (plain, full) = try readings(#"{"token":"aB:c_-!~"}"#, .android)
        #expect(plain?.token == "aB:c_-!~")
        #expect(plain == full)
        #expect(try readings(#"{"token":"a b"}"#, .android) == (nil, nil))
        #expect(try readings("{\"token\":\"\(String(repeating: "x", count: 4097))\"}", .android) == (nil, nil))
    }

    @Test("An iPhone's token of FCM keeps its case, and is a token by its colon")
    func iPhonesByFCM() throws {
        let (plain, full) = try readings(#"{"token":"aB9:c_-!~","environment":"sandbox"}"#, .ios)
        #expect(plain?.token == "aB9:c_-!~" && plain == full)
        var batch = RegistrationBatch(app: AppKey(app: "com.example.app", platform: .ios))
        for token in ["FFee", "aB9:c_-!~"] {
            let line = Array(#"{"token":"\#(token)","environment":"sandbox"}"#.utf8)
            #expect(DeviceFields.readPlain(line, in: 0..<line.count, into: &batch))
        }
        #expect(batch.rows.map(\.channel) == [.sandbox, Channel(.fcm, .sandbox, on: .ios)])
        #expect(try readings(#"{"token":"a b:c"}"#, .ios) == (nil, nil))
        #expect(try readings("{\"token\":\":\(String(repeating: "x", count: 4096))\"}", .ios) == (nil, nil))
    }

    @Test(
        "A provider that is named is the token's own",
        arguments: [
            ("ff", Platform.ios, "apns", true), ("ff", .ios, "APNS", true), ("ff", .ios, "fcm", false),
            ("a:b", .ios, "fcm", true), ("a:b", .ios, "apns", false), ("a:b", .android, "fcm", true),
            ("ff", .android, "apns", false), ("ff", .ios, "hms", false),
        ])
    func provider(token: String, platform: Platform, name: String, isTaken: Bool) throws {
        let (plain, full) = try readings(#"{"token":"\#(token)","provider":"\#(name)"}"#, platform)
        #expect(plain == nil, "it is for the full reader")
        #expect((full != nil) == isTaken)
    }

    @Test("A token that is refused is the line's one fault, whatever provider it names")
    func providerOfNoToken() {
        let line = Array(#"{"token":"","provider":"fcm"}"#.utf8)
        let fault = #expect(throws: BodyError.self) {
            try DeviceFields.readLine(
                line, in: 0..<line.count, app: AppKey(app: "com.example.app", platform: .ios))
        }
        guard case .fields(let faults)? = fault else { return }
        #expect(faults.map(\.field) == ["token"])
    }

    @Test(
        "What is refused does not take the short way",
        arguments: [
            #"{"telephone":"1"}"#, #"{"token":"f"}"#, #"{"token":"fg"}"#, #"{"token":""}"#, #"{"token":null}"#,
            #"{"token":"ff","telephone":""}"#, #"{"token":"ff","version":"1."}"#, #"{"token":"ff","version":""}"#,
            #"{"token":"ff","version":"1.0 "}"#, #"{"token":"ff","version":"1234567890123456789"}"#,
            #"{"token":"ff","environment":"Sand box"}"#, #"{"token":"ff","environment":""}"#,
            #"{"token":"ff","app":"other"}"#, #"{"token":"ff","app":""}"#, #"{"token":"ff","platform":"android"}"#,
            #"{"token":"ff","registeredAt":"yesterday"}"#, #"{"token":"ff","deadSince":"2026-02-30T00:00:00Z"}"#,
            #"{"token":"ff","registeredAt":""}"#, #"{"token":"ff","retiredAt":null}"#,
            #"{"token":"ff","version":"1.0","seenAt":"today"}"#, #"{"token":"ff","seenAt":1769850307}"#,
            #"{"token":"ff","color":"red"}"#, #"{"token":"ff","token":"ff"}"#, #"{"token":"ff""#, "x",
        ])
    func refused(line: String) throws {
        #expect(try readings(line, .ios) == (nil, nil))
    }

    @Test("Limits are the same on both ways")
    func limits() throws {
        for (count, isTaken) in [(64, true), (65, false)] {
            let long = String(repeating: "1", count: count)
            let telephone = try readings("{\"token\":\"ff\",\"telephone\":\"\(long)\"}", .ios)
            #expect(telephone.plain == telephone.full)
            #expect((telephone.plain != nil) == isTaken)
        }
        for (count, isTaken) in [(400, true), (401, false)] {
            let token = try readings("{\"token\":\"\(String(repeating: "f", count: count))\"}", .ios)
            #expect(token.plain == token.full)
            #expect((token.plain != nil) == isTaken)
        }
    }

    @Test("A line with escapes or other scripts takes the long way, and is stored beside the others")
    func long() throws {
        for line in [#"{"token":"\u0066f"}"#, #"{"token":"ff","telephone":"一三八"}"#] {
            let (plain, full) = try readings(line, .ios)
            #expect(plain == nil)
            var batch = RegistrationBatch(app: AppKey(app: "com.example.app", platform: .ios))
            batch.append(try #require(full))
            #expect(try change(batch, 0) == full)
        }
    }
}
