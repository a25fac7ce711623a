// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements
import Testing
import WireFormat

@testable import Configuration

@Suite struct ApprovalConfigurationTests {
    private static func parse(_ approval: String) throws -> ApprovalRule? {
        let text = "{ apps: { a: { ios: { apns: null, approval: \(approval) } } } }"
        return try ConfigurationFile.parse(Array(text.utf8), path: "test").apps.first?.approval
    }

    @Test func `One person is enough by default`() throws {
        #expect(try Self.parse("null") == nil)
    }

    @Test func `Two people are wanted above a tenth of the devices, for a day, by default`() throws {
        #expect(try Self.parse("{}") == ApprovalRule(above: 1000, within: .seconds(86_400)))
        #expect(
            try Self.parse(#"{ people: 2, above: "0.5%", within: "90m" }"#)
                == ApprovalRule(above: 50, within: .seconds(5400)))
        #expect(try Self.parse(#"{ above: "0%" }"#)?.above == 0)
    }

    @Test(
        arguments: [
            (#"{ above: "10" }"#, "above: \"10\" is no share of the devices"), (#"{ above: "100%" }"#, "\"99.99%\""),
            (#"{ above: "-1%" }"#, "such as \"10%\""), (#"{ above: "0.001%" }"#, "is no share"),
            (#"{ above: 10 }"#, "is not text"), (#"{ people: 3 }"#, "people: 3 is not how many people an act wants; 2"),
            (#"{ within: "1m" }"#, "within"), ("{ persons: 2 }", "persons"),
        ])
    func `A fault names the field, its value and a right one`(text: String, words: String) throws {
        do {
            _ = try Self.parse(text)
            Issue.record("\(text) was taken")
        } catch let error as ConfigurationError {
            let faults = error.faults.map(\.description).joined(separator: "; ")
            #expect(faults.contains("approval"), "\(faults)")
            #expect(faults.contains(words), "\(faults)")
        }
    }
}
