// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import TestPeers
import Testing
import WireFormat

@testable import Configuration

@Suite struct EgressConfigurationTests {
    private static let least =
        #"teamId: "ABCDE12345", keyId: "FGHIJ67890", key: { environment: "K" }"#

    private func parsed(_ egress: String, apns: String = "") throws(ConfigurationError) -> RelayConfiguration {
        let text =
            #"{ egress: \#(egress), apps: { "com.example.app": { ios: { apns: { \#(Self.least), \#(apns) } } } } }"#
        return try ConfigurationFile.parse(Array(text.utf8), path: "test")
    }

    private func faults(_ egress: String, apns: String = "") -> [FieldFault] {
        do throws(ConfigurationError) {
            _ = try parsed(egress, apns: apns)
            return []
        } catch {
            return error.faults
        }
    }

    // MARK: Secrets that are not repeated

    /// Every place of the configuration that takes a proxy.
    @Test(arguments: [
        "http://relay:S3cretW@rd@127.0.0.1:3128", "http://relay:S3cretW#rd@h:1", "http://relay:S3cretW/rd@h:1",
        "http://relay:S3cretW rd@h:1", "socks5h://relay:S3cretW@rd@h:1", "S3cretW", "http://relay:S3cretW@h",
    ])
    func anAddressThatCannotBeReadIsRefusedAtEveryDoorWithoutBeingRepeated(address: String) {
        let own = #"{ proxy: "\#(address)" }"#
        let object = #"{ proxy: { url: "\#(address)" } }"#
        let member = #"proxy: "\#(address)""#
        let documents = [
            "{ egress: \(own) }", "{ egress: \(object) }",
            #"{ notify: [{ url: "https://example.com/x", format: "slack", \#(member) }] }"#,
            #"{ apps: { "a.b": { ios: { apns: { \#(Self.least), \#(member) } } } } }"#,
            #"{ apps: { "a.b": { ios: { apns: null, sources: [{ appStore: { id: 1, \#(member) } }] } } } }"#,
            #"{ apps: { "a.b": { ios: { apns: null, sources: [{ launchGate: { url: "https://e.com/g", \#(member) } }] } } } }"#,
            #"{ apps: { "a.b": { ios: { apns: null, sources: [{ appStoreConnect: { appId: 1, keyId: "2X9R4HXF34", key: { file: "/k" }, \#(member) } }] } } } }"#,
            #"{ apps: { "a.b": { android: { fcm: { serviceAccount: { file: "/k" }, \#(member) } } } } }"#,
            #"{ apps: { "a.b": { android: { sources: [{ googlePlay: { key: { file: "/k" }, \#(member) } }] } } } }"#,
        ]
        for document in documents {
            do throws(ConfigurationError) {
                _ = try ConfigurationFile.parse(Array(document.utf8), path: "test")
                Issue.record("\(document) was taken")
            } catch {
                let text = "\(error)"
                #expect(error.faults.count == 1 && text.contains("proxy"), "\(text)")
                for part in ["S3cret", "rd@", "W@rd", "127.0.0.1"] { #expect(!text.contains(part), "\(text)") }
            }
        }
    }

    @Test func aSecretThatCannotBeUsedIsNotRepeatedEither() throws {
        let whole = try parsed(#"{ proxy: { environment: "P" } }"#)
        let split = try parsed(#"{ proxy: { url: "http://h:1", user: "relay", password: { environment: "P" } } }"#)
        for (configuration, secret) in [(whole, "http://relay:S3cretW@rd@h:1"), (split, "S3cretW\u{7}rd")] {
            let environment = ["P": secret, "K": "k"]
            #expect(throws: FieldFault.self) { try configuration.egress.egress(environment: environment) }
            let report = ConfigurationCheck(configuration: configuration, environment: environment).run()
            let texts = report.faults.map(\.description)
            #expect(texts.contains { $0.hasPrefix("egress.proxy") }, "\(texts)")
            for text in texts {
                #expect(!text.contains("S3cret") && !text.contains("W@") && !text.contains("\u{7}"), "\(text)")
            }
        }
        #expect(throws: FieldFault.self) { try whole.egress.egress(environment: [:]) }
    }

    // MARK: The settings that apply

    @Test func theWayOfAllIsEachOnesAndEachMayHaveItsOwn() throws {
        let common = #"{ proxy: "http://p:1", noProxy: ["db.example", "10.0.0.0/8"], trustedCertificates: "/ca.pem" }"#
        let one = try #require(try parsed(common).apps.first?.apns).egress.egress(environment: [:])
        #expect(one.proxy == (try ProxyServer("http://p:1", key: "")) && one.addedCertificates == "/ca.pem")
        #expect(one.proxy?.key == "egress.proxy")
        #expect(one.proxy(to: "10.1.1.1", port: 443) == nil && one.proxy(to: "127.0.0.1", port: 443) == nil)
        #expect(one.proxy(to: "a.db.example", port: 1) == nil && one.proxy(to: "example", port: 443) != nil)
        let own = try #require(
            try parsed(common, apns: #"proxy: { url: "socks5h://q", user: "u", password: { environment: "P" } }"#).apps
                .first?.apns)
        let egress = try own.egress.egress(environment: ["P": "w"])
        #expect(egress.proxy?.port == 1080 && egress.proxy?.user == "u" && egress.proxy?.password == "w")
        #expect(egress.proxy?.key == #"apps["com.example.app"].ios.apns.proxy"#)
        #expect(egress.proxy(to: "127.0.0.1", port: 443) != nil, "a proxy of its own is for all of it")
        #expect(try parsed("{}").egress == EgressConfiguration())
        #expect(try parsed(#"{ proxy: "http://p:1", noProxy: "a.b, .c.d:80,*" }"#).egress.exceptions.count == 6)
    }

    @Test(arguments: [
        (#"{ proxy: { url: "http://p:1", user: "u" } }"#, "egress.proxy.password: missing"),
        (#"{ proxy: { url: "http://p:1", password: { file: "/p" } } }"#, "egress.proxy.user: missing"),
        (
            #"{ proxy: { url: "http://p:1", user: "u", password: "word" } }"#,
            "egress.proxy.password: a secret is never written here"
        ),
        (
            #"{ proxy: "http://relay:word@p:1" }"#,
            "egress.proxy: has its password in it: a secret is never written here"
        ),
        (#"{ proxy: { url: "http://relay:word@p:1" } }"#, "egress.proxy.url: has its password in it"),
        (#"{ proxy: { url: "http://v@p:1", user: "u", password: { file: "/p" } } }"#, "egress.proxy.url: has a user"),
        (#"{ proxy: { url: "http://p:1", user: "a:b", password: { file: "/p" } } }"#, "egress.proxy.user: "),
        (#"{ proxy: { url: "http://p:1", pass: "x" } }"#, "egress.proxy.pass: unknown key"),
        (#"{ proxy: 3128 }"#, "egress.proxy: is no proxy"), (#"{ proxy: {} }"#, "egress.proxy: is no proxy"),
        (#"{ proxy: { file: "/p", credential: "c" } }"#, "egress.proxy: names several places"),
        (#"{ noProxy: ["http://x"] }"#, "egress.noProxy[0]: "), (#"{ noProxy: "a,b c" }"#, "egress.noProxy: "),
        (#"{ noProxy: 1 }"#, "egress.noProxy: 1 is not a list"), (#"{ noproxy: [] }"#, "egress.noproxy: unknown key"),
        (#"{ trustedCertificates: "ca.pem" }"#, "egress.trustedCertificates: "),
    ])
    func aFaultIsNamed(egress: String, fault: String) {
        let found = faults(egress).map(\.description)
        #expect(found.count == 1 && found.first?.hasPrefix(fault) == true, "\(found)")
        #expect(!found.joined().contains("word\"") && !found.joined().contains("word@"))
    }

    /// Earlier releases took a password in this key; a new key is refused with one.
    @Test func aPasswordOfAnOldKeyIsWarnedOf() throws {
        let configuration = try parsed("{}", apns: #"proxy: "http://relay:S3cretW@p:1","#)
        let report = ConfigurationCheck(configuration: configuration, environment: ["K": "k"]).run()
        let warnings = report.warnings.map(\.description)
        #expect(
            warnings.count { $0.contains(".ios.apns.proxy: has its password in the configuration") } == 1, "\(warnings)"
        )
        #expect(!warnings.joined().contains("S3cret"))
    }

    // MARK: Servers of APNs

    @Test(arguments: [
        ("", "https://api.push.apple.com", "https://api.sandbox.push.apple.com", false),
        ("port: 2197", "https://api.push.apple.com:2197", "https://api.sandbox.push.apple.com:2197", false),
        (
            #"server: "https://api.push.apple.com:2197""#, "https://api.push.apple.com:2197",
            "https://api.sandbox.push.apple.com:2197", false
        ),
        (#"server: "https://push.example:2197""#, "https://push.example:2197", "https://push.example:2197", true),
        (#"server: "https://127.0.0.1:2197""#, "https://127.0.0.1:2197", "https://127.0.0.1:2197", false),
        (
            #"server: "https://a.example", sandboxServer: "https://b.example""#, "https://a.example",
            "https://b.example",
            false
        ),
    ])
    func anotherPortOfApplesIsNoServerOfOnesOwn(keys: String, server: String, sandbox: String, isWarned: Bool) throws {
        let configuration = try parsed("{}", apns: keys)
        let apns = try #require(configuration.apps.first?.apns)
        #expect("\(apns.server)" == server && "\(apns.sandboxServer)" == sandbox)
        let warnings = ConfigurationCheck(configuration: configuration, environment: ["K": "k"]).run().warnings
        #expect(warnings.contains { $0.description.contains("stands for the sandbox, too") } == isWarned, "\(warnings)")
    }

    @Test func aPortBesideAServerIsRefused() {
        let found = faults("{}", apns: #"port: 2197, server: "https://127.0.0.1:1""#)
        #expect(found.count == 1 && found.first?.field.hasSuffix("apns.port") == true, "\(found)")
    }
}
