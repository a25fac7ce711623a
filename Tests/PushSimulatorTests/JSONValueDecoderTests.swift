// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import WireFormat

@testable import PushSimulator

/// A script of faults is read, and refused, as Foundation's reader does it.
@Suite struct JSONValueDecoderTests {
    /// The usual script with these fields.
    private static func script(_ json: String) throws -> [UInt8] {
        let given = try #require(try JSONReader.read(Array(json.utf8)).object)
        let usual = try #require(try JSONReader.read(Array(JSONEncoder().encode(FaultScript()))).object)
        let names = Set(given.map(\.name))
        return JSONValue.object(usual.filter { !names.contains($0.name) } + given).bytes()
    }

    private static func words(_ error: any Error) -> String {
        func text(_ kind: String, _ context: DecodingError.Context) -> String {
            "\(kind) \(context.codingPath.map(\.stringValue)): \(context.debugDescription)"
        }
        return switch error {
        case DecodingError.dataCorrupted(let context): text("corrupted", context)
        case DecodingError.typeMismatch(let type, let context): text("no \(type)", context)
        case DecodingError.valueNotFound(let type, let context): text("null for \(type)", context)
        case DecodingError.keyNotFound(let key, let context): text("no member \(key.stringValue)", context)
        default: "\(error)"
        }
    }

    private static func outcome(_ read: () throws -> FaultScript) -> Result<FaultScript, Words> {
        do { return .success(try read()) } catch { return .failure(Words(text: words(error))) }
    }

    private struct Words: Error, Equatable { var text: String }

    @Test(arguments: [
        "{}", #"{"deadShare": 1}"#, #"{"deadShare": 1e-2}"#, #"{"deadShare": "1"}"#, #"{"deadShare": true}"#,
        #"{"deadShare": [1]}"#, #"{"deadShare": {}}"#, #"{"deadShare": 1e999}"#, #"{"busyTries": 3}"#,
        #"{"busyTries": 3.0}"#, #"{"busyTries": 3e2}"#, #"{"busyTries": 3.5}"#, #"{"busyTries": "x"}"#,
        #"{"busyTries": 99999999999999999999}"#, #"{"busyTries": -0}"#, #"{"sharesSeed": 18446744073709551615}"#,
        #"{"sharesSeed": -1}"#, #"{"clockAhead": -9223372036854775808}"#, #"{"deadSince": 9007199254740993}"#,
        #"{"deadTokens": []}"#, #"{"deadTokens": ["a", "b", "a"]}"#, #"{"deadTokens": ["a", 1]}"#,
        #"{"deadTokens": ["a", null]}"#, #"{"deadTokens": "a"}"#, #"{"deadTokens": {"a": 1}}"#,
        #"{"deadWithoutTimestamp": 1}"#, #"{"deadWithoutTimestamp": true}"#, #"{"retryAfterDate": "true"}"#,
        #"{"cutBy": "reset"}"#, #"{"cutBy": "Reset"}"#, #"{"cutBy": 1}"#, #"{"goAwayReason": ["x"]}"#,
        #"{"goAwayReason": "ü\n"}"#, #"{"refusals": {}}"#, #"{"refusals": {"afterN": 1, "count": 2}}"#,
        #"{"refusals": {"afterN": 1, "count": 2, "reason": "Forbidden", "retryAfter": null}}"#,
        #"{"refusals": {"afterN": null, "count": 2, "reason": "Forbidden"}}"#, #"{"refusals": "x"}"#,
        #"{"refusals": []}"#,
        #"{"refusals": {"afterN": 1, "count": 2, "reason": null}}"#, #"{"quota": {"requests": 1.5}}"#,
        #"{"quota": {"requests": 5, "seconds": "x"}}"#, #"{"quota": 7}"#, #"{"quota": {"requests": 5, "other": 1}}"#,
        #"{"tokenReasons": {"ab": "Unregistered"}}"#, #"{"tokenReasons": {"ab": "Gone"}}"#,
        #"{"tokenReasons": {"ab": 1}}"#, #"{"tokenReasons": ["ab"]}"#, #"{"tokenReasons": {"ab": null}}"#,
        #"{"shares": {"cut": 0.5, "Unregistered": 0.1}}"#, #"{"shares": {"no": 0.5}}"#, #"{"shares": {"cut": "x"}}"#,
        #"{"shares": []}"#, #"{"shares": {}}"#, #"{"shrinkSettings": {"afterN": 1}}"#,
        #"{"serviceErrors": {"afterN": 1, "count": 2, "status": 500}}"#,
        #"{"serviceErrors": {"afterN": 1, "count": 2}}"#,
        #"{"tokenEndpoint": {}}"#, #"{"tokenEndpoint": {"status": 503, "error": "x"}}"#,
    ])
    func asFoundation(_ json: String) throws {
        let bytes = try Self.script(json)
        let other = Self.outcome { try JSONDecoder().decode(FaultScript.self, from: Data(bytes)) }
        let own = Self.outcome { try FaultScript(json: Array(json.utf8)) }
        #expect(own == other)
    }
}
