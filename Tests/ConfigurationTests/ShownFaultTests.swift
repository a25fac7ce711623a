// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Configuration

/// A fault shows nothing secret of the configuration, nothing that steers a terminal, and no more than a line or two.
@Suite struct ShownFaultTests {
    @Test func `A key that stands twice steers no terminal and fills none`() {
        let key = "x\u{9B}2J" + String(repeating: "y", count: 1000)
        let many = String(repeating: "\"\(key)\": 1, ", count: 30)
        let faults = configurationFaults("{ \(many) }").filter { $0.contains("appears twice") }
        #expect(faults.count == 20, "\(faults.count)")
        #expect(faults.allSatisfy { !$0.contains("\u{9B}") && $0.utf8.count < 200 }, "\(faults.first ?? "")")
    }

    @Test(arguments: [
        "{ apps: { \"NAME\": { ios: { apns: 1, fcm: 1 } } } }", "{ \"NAME\": 1 }",
        "{ webhooks: { secrets: [{ file: \"/s\", apps: [\"NAME\"] }] } }",
        "{ store: { keep: \"1h\" }, apps: { \"NAME\": { ios: { push: { remind: { after: [\"2d\"] } } } } } }",
        "{ fanOut: { lanes: NUMBER } }",
    ])
    func `A name or a number of any length steers no terminal and fills none`(text: String) {
        let name = String(repeating: "\\u009By", count: 1000)
        let faults = configurationFaults(
            text.replacing("NAME", with: name).replacing("NUMBER", with: String(repeating: "9", count: 3000)))
        #expect(!faults.isEmpty)
        for fault in faults {
            #expect(fault.utf8.count < 1000, "\(fault.utf8.count): \(fault.prefix(80))")
            #expect(!fault.contains("\u{9B}"), "\(fault)")
        }
    }

    @Test func `A secret that was written inline is not repeated in the fault`() {
        let text = "{ webhooks: { secrets: [\"whsec_topsecret\"] } }"
        #expect(!configurationFaults(text).joined().contains("topsecret"))
    }

    @Test func `No signature of an address comes into a fault`() {
        for query in ["?s=geheim", "?s=@geheim", "#geheim"] {
            let faults = configurationFaults(
                ConfigurationFaultTests.ios("sources: [{ launchGate: { url: \"http://cdn.example/x\(query)\" } }]"))
            #expect(faults.count == 1 && !faults.joined().contains("geheim"), "\(faults)")
        }
    }

    @Test func `No password of an address comes into a fault`() {
        for user in ["u:geheim", "geheim", "u:ge/geheim", "u:ge?geheim", "u:ge#geheim", "u:ge@geheim", "/u:geheim"] {
            for key in [
                "launchGate: { url: \"https://\(user)@cdn.example/x\" }",
                "appStore: { id: 1, lookupServer: \"https://\(user)@cdn.example\" }",
            ] {
                let faults = configurationFaults(ConfigurationFaultTests.ios("sources: [{ \(key) }]"))
                #expect(faults.count == 1 && !faults.joined().contains("geheim"), "\(key): \(faults)")
            }
        }
    }
}
