// SPDX-License-Identifier: Apache-2.0
import Testing
import UpgradeRules

/// The published document, judged by the replicas of the real clients.
@Suite("What the LaunchGate document says")
struct LaunchGateAdviceTests {
    static func facts(
        _ required: String?, latest: String? = nil, seen: [String] = [], unknown: Int64 = 0,
        alert: LaunchGateDocument.Alert? = nil
    ) throws -> LaunchGateAdvice.Facts {
        LaunchGateAdvice.Facts(
            required: try required.map { try Version($0) }, latest: try (latest ?? required).map { try Version($0) },
            message: "m", alert: alert,
            seen: SeenVersions(
                versions: try seen.map { SeenVersion(version: try Version($0), devices: 2) }, unknown: unknown))
    }

    static func dialog(_ facts: LaunchGateAdvice.Facts, on version: String) -> LaunchGateReplica.Dialog? {
        var client = LaunchGateReplica(appVersion: version)
        return client.launch(
            LaunchGateDocument(ios: LaunchGateAdvice(.ios, facts).section, android: .init()).rendered())
    }

    @Test(
        "nobody who meets the requirement is locked out, not the latest and none that was seen",
        arguments: [
            ("1.9", "1.10", ["1.8", "1.9"]), ("1.9", "1.9", ["1.10", "1.11", "1.8"]), ("9.0", "10.0", ["8.0"]),
            ("2.0.0", "2.0.0", ["2.0", "2", "1.9"]), ("1.09", "1.9", ["1.9", "1.10"]), ("2.0", "2.1", []),
        ])
    func locksNobodyOut(required: String, latest: String, seen: [String]) throws {
        let facts = try Self.facts(required, latest: latest, seen: seen)
        let minimum = try Version(required)
        for text in seen + [latest, required] where try Version(text) >= minimum {
            let dialog = Self.dialog(facts, on: text)
            #expect(dialog != .requiredUpdate("m"), "\(text)")
        }
    }

    @Test("where text and numbers agree, the required version is published as it was written, without a warning")
    func plain() throws {
        let facts = try Self.facts("2.0.0", latest: "2.1.0", seen: ["1.9.0", "2.0.0", "2.1.0"])
        let advice = LaunchGateAdvice(.ios, facts)
        #expect(advice.section.required?.minimumVersion == "2.0.0")
        #expect(advice.warnings == [])
        #expect(Self.dialog(facts, on: "1.9.0") == .requiredUpdate("m"))
        #expect(Self.dialog(facts, on: "2.1.0") == nil)
    }

    @Test("a minimum that would lock out a newer version is lowered and both sides of it are told")
    func warns() throws {
        let advice = LaunchGateAdvice(.ios, try Self.facts("1.9", seen: ["1.8", "1.9", "1.10"]))
        #expect(advice.section.required?.minimumVersion == "1.10")
        #expect(advice.warnings.count == 2)
        #expect(advice.warnings.first?.contains("lock out 1.10 (2 devices)") == true)
        #expect(advice.warnings.last?.contains("1.8 (2 devices) pass") == true)
    }

    @Test("an older version that passes as text is told: 9.0 is not below 10.0")
    func passes() throws {
        let advice = LaunchGateAdvice(.ios, try Self.facts("10.0", seen: ["9.0", "1.0"]))
        #expect(advice.warnings.count == 1)
        #expect(advice.warnings.first?.contains("lets 9.0 (2 devices) pass") == true)
    }

    @Test("a latest version that nobody has yet is not locked out either")
    func latest() throws {
        let advice = LaunchGateAdvice(.ios, try Self.facts("1.9", latest: "1.10", seen: ["1.8"]))
        #expect(advice.warnings.first?.contains("1.10 (the latest)") == true)
        #expect(advice.section.required?.minimumVersion == "1.10")
    }

    @Test("an optional update is reached once nobody is below the required one, and only then")
    func optional() throws {
        let below = try Self.facts("2.0", latest: "2.1", seen: ["1.0", "2.0"])
        #expect(Self.dialog(below, on: "1.0") == .requiredUpdate("m"))
        #expect(Self.dialog(below, on: "2.0") == nil)
        let current = try Self.facts("2.0", latest: "2.1", seen: ["2.0"])
        #expect(Self.dialog(current, on: "2.0") == .optionalUpdate("m"))
        #expect(Self.dialog(current, on: "2.1") == nil)
        // No device was seen, or the version of one is unknown: then the requirement stands.
        #expect(Self.dialog(try Self.facts("2.0", latest: "2.1"), on: "1.0") == .requiredUpdate("m"))
        #expect(
            Self.dialog(try Self.facts("2.0", latest: "2.1", seen: ["2.0"], unknown: 1), on: "1.0")
                == .requiredUpdate("m"))
        // Nothing else to show.
        #expect(Self.dialog(try Self.facts("2.0", seen: ["2.0"]), on: "1.0") == .requiredUpdate("m"))
    }

    @Test("a blocking alert locks everyone, also who is below; another is shown where no requirement stands before it")
    func alerts() throws {
        let blocking = LaunchGateDocument.Alert(message: "a", blocking: true)
        for version in ["1.0", "2.0", "2.1"] {
            let facts = try Self.facts("2.0", latest: "2.1", seen: ["1.0", "2.0"], alert: blocking)
            #expect(Self.dialog(facts, on: version) == .alert("a", blocking: true))
        }
        let alert = LaunchGateDocument.Alert(message: "a", blocking: false)
        let current = try Self.facts("2.0", latest: "2.1", seen: ["2.0"], alert: alert)
        #expect(Self.dialog(current, on: "2.0") == .alert("a", blocking: false))
        let below = try Self.facts("2.0", latest: "2.1", seen: ["1.0"], alert: alert)
        #expect(Self.dialog(below, on: "1.0") == .requiredUpdate("m"))
        #expect(LaunchGateAdvice(.ios, below).warnings.contains { $0.contains("stops at requiredUpdate") })
    }

    @Test("Android's codes are published, or integers that are versions themselves, never a name")
    func android() throws {
        var facts = try Self.facts("7.0.3", latest: "7.1", seen: ["7.0.1"])
        #expect(LaunchGateAdvice(.android, facts).section == .init())
        #expect(LaunchGateAdvice(.android, facts).warnings.count == 1)
        facts.requiredBuild = 703
        facts.latestBuild = 710
        let section = LaunchGateAdvice(.android, facts).section
        #expect(section.required?.minimumVersion == "703")
        #expect(section.optional?.optionalVersion == "710")
        var old = GandalfReplica(versionCode: 702)
        var new = GandalfReplica(versionCode: 703)
        let file = LaunchGateDocument(ios: .init(), android: section).rendered()
        #expect(old.launch(file) == .requiredUpdate("m"))
        #expect(new.launch(file) == .optionalUpdate("m"))

        let codes = LaunchGateAdvice(.android, try Self.facts("9", latest: "10", seen: ["8"])).section
        #expect(codes.required?.minimumVersion == "9")
        #expect(codes.optional?.optionalVersion == "10")
        #expect(LaunchGateAdvice(.android, try Self.facts("9", seen: ["8.1"])).section == .init())
        #expect(LaunchGateAdvice(.android, try Self.facts("3000000000")).section == .init())
    }
}
