// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Requirements
import Testing
import WireFormat

@testable import RelayAPI
@testable import openapi

/// The document in the program is the one that `make openapi` writes.
@Suite("The document as it is written", .ownThread)
struct WrittenDocumentTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
    private static let folder = root.appending(path: "etc/openapi/text")

    @Test("routes, shapes and texts make its bytes, and each of them is in it")
    func bytes() throws {
        let document = try APIDocument(Texts(folder: Self.folder))
        #expect(document.faults == [])
        let file = try Data(contentsOf: Self.root.appending(path: "Sources/C/COpenAPI/openapi.json"))
        #expect(document.bytes == Array(file), "run \"make openapi\"")
    }

    @Test("an operation without a text, and a text without an operation, are faults")
    func faults() throws {
        let texts = Texts([:], at: "text")
        #expect(APIDocument(texts).faults.contains("text/devices/operations/getDevice/summary is missing"))
        let others = Texts(["devices": ["operations": ["getDevise": ["summary": .string("One device")]]]], at: "text")
        #expect(APIDocument(others).faults.contains("text/devices/operations/getDevise has no place in the document"))
    }

    @Test("people write descriptions and examples, and 4,000 lines at most")
    func authored() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        let lines = try files.map { file in
            try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8).count { $0 == "\n" }
        }
        #expect(lines.reduce(0, +) <= 4000)
        #expect(Set(files) == Set(APIOperation.all.map { "\($0.tag).json" } + ["shared.json"]))
    }

    /// A number of 20 digits was refused by the query of an act whose schema allowed it.
    @Test("a number that was shown before an act has the same bounds in its query as in its body")
    func confirmedNumbers() throws {
        let document = try APIDocument(Texts(folder: Self.folder))
        let json = try JSONReader.read(document.bytes)
        let paths = try #require(json["paths"]?.object)
        let numbers = Set(Shown.Fact.allCases.filter(\.isNumber).map(\.rawValue))
        var (inQueries, inBodies) = (0, 0)
        for operation in paths.compactMap(\.value.object).joined() {
            let parameters = operation.value["parameters"]?.array ?? []
            for parameter in parameters where numbers.contains(parameter["name"]?.string ?? "") {
                inQueries += 1
                let schema = parameter["schema"]
                #expect(schema?["minimum"]?.integer == 0 && schema?["maximum"]?.integer == .max, "\(operation.name)")
            }
            let bodies = (operation.value["requestBody"]?["content"]?.object ?? []).compactMap { $0.value["schema"] }
            let named = bodies.map { body in
                let name = body["$ref"]?.string?.split(separator: "/").last.map(String.init)
                return name.flatMap { json["components"]?["schemas"]?[$0] } ?? body
            }
            for property in named.flatMap({ $0["properties"]?.object ?? [] })
            where numbers.contains(property.name) {
                inBodies += 1
                let (least, most) = (property.value["minimum"]?.integer, property.value["maximum"]?.integer)
                #expect(least == 0 && most == .max, "\(operation.name): \(property.name)")
            }
        }
        #expect(inQueries > 0 && inBodies > 3, "\(inQueries) in queries, \(inBodies) in bodies")
    }
}
