// SPDX-License-Identifier: Apache-2.0
import Testing
import VersionSources
import WireFormat

@testable import CurlTransport
@testable import RelayAPI

/// The checker must be able to say no.
@Suite("The schema checker")
struct SchemaCheckTests {
    static let person =
        #"{"type":"object","properties":{"name":{"type":"string","minLength":1},"age":"#
        + #"{"type":["integer","null"],"minimum":0},"role":{"type":["string","null"],"enum":["a","b",null]}},"#
        + #""required":["name","age"],"additionalProperties":false}"#

    static func faults(_ value: String, _ schema: String) throws -> [String] {
        let root = try JSONReader.read(Array(#"{"components":{"schemas":{"Person":\#(person)}}}"#.utf8))
        return SchemaCheck(root: root).faults(
            try JSONReader.read(Array(value.utf8)), try JSONReader.read(Array(schema.utf8)))
    }

    @Test(
        "what is of the schema",
        arguments: [
            (#"{"name":"x","age":1}"#, person), (#"{"name":"x","age":null,"role":null}"#, person),
            (#"[{"name":"x","age":1.0}]"#, ##"{"type":"array","items":{"$ref":"#/components/schemas/Person"}}"##),
            ("null", ##"{"anyOf":[{"$ref":"#/components/schemas/Person"},{"type":"null"}]}"##),
            (#""2026-01-31T09:05:07.250Z""#, #"{"type":"string","format":"date-time"}"#),
            (#"{"x":1,"y":2}"#, #"{"type":"object","additionalProperties":{"type":"integer"}}"#),
            ("[1,{}]", "{}"),
        ])
    func good(value: String, schema: String) throws {
        #expect(try Self.faults(value, schema) == [])
    }

    @Test(
        "what is not",
        arguments: [
            (#"{"age":1}"#, person, "$.name: documented as always there; it is missing"),
            (#"{"name":"x","age":"1"}"#, person, #"$.age: another type is documented; it was "1""#),
            (#"{"name":"x","age":1.5}"#, person, "$.age: another type is documented; it was the number 1.5"),
            (#"{"name":"x","age":-1}"#, person, "$.age: minimum is 0; it was -1.0"),
            (#"{"name":"","age":1}"#, person, "$.name: minLength is 1; it had 0"),
            (#"{"name":"x","age":1,"role":"c"}"#, person, #"$.role: not one of the documented values: "c""#),
            (#"{"name":"x","age":1,"more":0}"#, person, "$.more: is not documented"),
            ("[]", person, "$: object is documented; it was an array"),
            ("1", ##"{"$ref":"#/components/schemas/Nobody"}"##, "$: #/components/schemas/Nobody leads nowhere"),
            (
                #""2026-01-31 09:05:07Z""#, #"{"format":"date-time"}"#,
                #"$: date-time is documented; it was "2026-01-31 09:05:07Z""#
            ),
            (
                #"{"x":"1"}"#, #"{"additionalProperties":{"type":"integer"}}"#,
                #"$.x: integer is documented; it was "1""#
            ),
            ("1", #"{"oneOf":[]}"#, "$: the checker does not know oneOf"),
        ])
    func bad(value: String, schema: String, fault: String) throws {
        #expect(try Self.faults(value, schema) == [fault])
    }

    @Test("answers that the document does not know")
    func answers() {
        func faults(_ method: String, _ path: String, _ status: Int, _ type: String?, _ body: String) -> [String] {
            DocumentCheck.faults(
                method, path, sent: nil,
                HTTPResponse(
                    status: status, headers: type.map { [(name: "Content-Type", value: $0)] } ?? [],
                    body: Array(body.utf8)))
        }
        let json = "application/json"
        #expect(faults("GET", "/healthz", 200, json, #"{"status":"ok"}"#) == [])
        #expect(faults("GET", "/healthz", 200, json, #"{"status":"ok","more":1}"#) == ["$.more: is not documented"])
        #expect(
            faults("GET", "/healthz", 200, "text/plain", "ok") == ["the content type \"text/plain\" is not documented"])
        #expect(faults("GET", "/healthz", 418, json, "{}") == ["the status is not documented"])
        #expect(faults("DELETE", "/v1/tokens/ci", 204, nil, "") == [])
        #expect(faults("DELETE", "/v1/tokens/ci", 204, nil, "x") == ["a body is not documented"])
        #expect(faults("GET", "/nowhere", 200, json, "{}") == ["the status is not one of [404]"])
    }
}
