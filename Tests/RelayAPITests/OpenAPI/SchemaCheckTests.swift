// SPDX-License-Identifier: Apache-2.0
import Testing
import VersionSources
import WireFormat

@testable import CurlTransport
@testable import RelayAPI

/// The checker must find faults.
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
            (#""2026-01-31T17:05:07+08:00""#, #"{"type":"string","format":"date-time"}"#),
            (#"{"x":1,"y":2}"#, #"{"type":"object","additionalProperties":{"type":"integer"}}"#),
            (#"["e\u0301"]"#, #"{"minItems":1,"items":{"pattern":"^[^\\u0000-\\u001F]{2}$"}}"#),
            (#"{"en":1}"#, #"{"minProperties":1,"maxProperties":1,"propertyNames":{"pattern":"^[a-z]+$"}}"#),
            (#"{"x":null}"#, #"{"not":{"properties":{"x":false}}}"#),
            ("[1,{}]", "{}"), (#"{"x":1}"#, #"{"not":{"properties":{"x":{"type":"null"}}}}"#),
        ])
    func good(value: String, schema: String) throws {
        #expect(try Self.faults(value, schema) == [])
    }

    @Test(
        "what is not",
        arguments: [
            (#"{"age":1}"#, person, "$.name: documented as always there; it is missing"),
            (#"{"name":"x","age":"1"}"#, person, #"$.age: another type is documented; got "1""#),
            (#"{"name":"x","age":1.5}"#, person, "$.age: another type is documented; got the number 1.5"),
            (#"{"name":"x","age":-1}"#, person, "$.age: minimum is 0; got -1.0"),
            (#"{"name":"","age":1}"#, person, "$.name: minLength is 1; it had 0"),
            (#"{"name":"x","age":1,"role":"c"}"#, person, #"$.role: not one of the documented values: "c""#),
            (#"{"name":"x","age":1,"more":0}"#, person, "$.more: is not documented"),
            ("[]", person, "$: object is documented; got an array"),
            ("1", ##"{"$ref":"#/components/schemas/Nobody"}"##, "$: #/components/schemas/Nobody leads nowhere"),
            (
                #""2026-01-31 09:05:07Z""#, #"{"format":"date-time"}"#,
                #"$: date-time is documented; got "2026-01-31 09:05:07Z""#
            ),
            (
                #"{"x":"1"}"#, #"{"additionalProperties":{"type":"integer"}}"#,
                #"$.x: integer is documented; got "1""#
            ),
            (#"{"x":null}"#, #"{"not":{"properties":{"x":{"type":"null"}}}}"#, "$: is what it must not be"),
            (#"{"x":null}"#, #"{"properties":{"x":false}}"#, "$.x: is not to be there"),
            ("{}", #"{"minProperties":1}"#, "$: minProperties is 1; it had 0"),
            (#"{"x":1,"y":2}"#, #"{"maxProperties":1}"#, "$: maxProperties is 1; it had 2"),
            (#"{"E":1}"#, #"{"propertyNames":{"pattern":"^[a-z]+$"}}"#, #"$.E: does not match its pattern; got "E""#),
            ("[]", #"{"minItems":1}"#, "$: minItems is 1; it had 0"),
            ("[1,2]", #"{"maxItems":1}"#, "$: maxItems is 1; it had 2"),
            (#""a\n""#, #"{"pattern":"^[^\\u0000-\\u001F]*$"}"#, "$: does not match its pattern; got \"a\n\""),
            (#""a""#, #"{"pattern":"("}"#, "$: ( is no regular expression"),
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
                    status: status,
                    headers: [(name: "X-Request-Id", value: "a"), (name: "Cache-Control", value: "no-store")]
                        + (type.map { [(name: "Content-Type", value: $0)] } ?? []),
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
        #expect(faults("GET", "/nowhere", 200, json, "{}") == ["the status is not 404"])
    }

    @Test("headers that the document does not know, and those that it promises")
    func headers() {
        func faults(_ headers: [(name: String, value: String)], status: Int = 204) -> [String] {
            let body = status == 204 ? "" : #"{"type":"about:blank","title":"","status":405,"detail":""}"#
            return DocumentCheck.faults(
                "DELETE", status == 204 ? "/v1/tokens/ci" : "/healthz", sent: nil,
                HTTPResponse(
                    status: status, headers: headers + [(name: "Content-Type", value: "application/problem+json")],
                    body: Array(body.utf8)))
        }
        let kept = (name: "Cache-Control", value: "no-store")
        #expect(faults([("X-Request-Id", "a"), kept]) == [])
        #expect(faults([kept]) == ["the header X-Request-Id is documented as always there; it is missing"])
        #expect(
            faults([("X-Request-Id", "a")]) == ["the header Cache-Control is documented as always there; it is missing"]
        )
        #expect(faults([("x-request-id", "a"), kept, ("Date", "…")]) == [])
        #expect(faults([("X-Request-Id", "a"), kept, ("ETag", "\"1\"")]) == ["the header ETag is not documented"])
        #expect(
            faults([("X-Request-Id", "a b"), kept])
                == [#"the header X-Request-Id: does not match its pattern; got "a b""#])
        #expect(faults([("X-Request-Id", "a"), kept, ("Allow", "GET, HEAD, OPTIONS")], status: 405) == [])
        #expect(
            faults([("X-Request-Id", "a"), kept], status: 405) == [
                "the header Allow is documented as always there; it is missing"
            ])
    }
}
