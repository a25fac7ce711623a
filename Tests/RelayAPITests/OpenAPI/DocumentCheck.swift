// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Testing
import VersionSources
import WireFormat

@testable import HTTPServer
@testable import RelayAPI

/// Checks every answer that a test's client receives against the OpenAPI document.
enum DocumentCheck {
    /// One method of one path.
    struct Entry {
        var method: String
        var path: String
        var operation: JSONValue

        /// The parameters of its path, query and headers, with their references resolved.
        var parameters: [JSONValue] { operation["parameters"]?.elements.map(DocumentCheck.resolved) ?? [] }
    }

    static let document = (try? JSONReader.read(OpenAPIDocument.bytes)) ?? .null
    static let check = SchemaCheck(root: document)

    static let entries: [Entry] = (document["paths"]?.members ?? []).flatMap { path in
        path.value.members.map { Entry(method: $0.name.uppercased(), path: path.name, operation: $0.value) }
    }

    /// The entry for a method and the segments of a path; literal segments count more than names in braces.
    static func entry(_ method: String, _ segments: [String]) -> Entry? {
        let fitting = entries.filter { entry in
            let template = entry.path.split(separator: "/")
            return entry.method == method && template.count == segments.count
                && zip(template, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }
        return fitting.min { $0.path.count { $0 == "{" } < $1.path.count { $0 == "{" } }
    }

    /// Each difference between the answer and the document.
    static func faults(_ method: String, _ target: String, sent: [UInt8]?, _ response: HTTPResponse) -> [String] {
        // Every path below `/v1/enforce` is answered as `/v1/enforce` is.
        if API.isBelowEnforce(target) { return faults("GET", API.enforcePath, sent: nil, response) }
        let bare = method == "HEAD"
        if method == "OPTIONS", target == "*" { return shared("Options", response) }
        let asked: RequestTarget
        do {
            asked = try RequestTarget(target)
        } catch {
            return problem(response, ProblemDetails.of(error).status)
        }
        let target = asked
        switch Router.api.route(method: method, segments: target.segments) {
        case .notFound, .unknownPlatform: return problem(response, 404)
        case .wrongMethod where method == "OPTIONS": return shared("Options", response)
        case .wrongMethod: return bare ? [] : problem(response, 405)
        case .route(let route, _):
            guard let entry = entry(bare || route.isForProxies ? "GET" : method, target.segments) else {
                return ["\(route.pattern) has no operation in the document"]
            }
            guard let answer = answer(of: entry, response.status) else {
                return ["the status is not documented"]
            }
            var faults = headers(response, answer["headers"])
            if !bare { faults += content(response, answer["content"]) }
            if let sent, (200..<300).contains(response.status) { faults += request(sent, entry) }
            return faults
        }
    }

    /// The document's example for a path's name in braces.
    static func example(_ name: some StringProtocol, of entry: Entry) -> String? {
        entry.parameters.first { $0["in"]?.text == "path" && $0["name"]?.text == String(name) }?["example"]?.text
    }

    // MARK: Parts

    private static func answer(of entry: Entry, _ status: Int) -> JSONValue? {
        let answers = entry.operation["responses"]
        // Every status that a client can cause is listed.
        return (answers?[String(status)] ?? (status >= 500 ? answers?["5XX"] : nil)).map(resolved)
    }

    private static func resolved(_ value: JSONValue) -> JSONValue {
        value["$ref"]?.text.flatMap(check.resolve) ?? value
    }

    /// An answer that is the same at every path.
    private static func shared(_ name: String, _ response: HTTPResponse) -> [String] {
        guard response.status == 204 else { return ["the status is not 204"] }
        let answer = check.resolve("#/components/responses/\(name)")
        return headers(response, answer?["headers"]) + content(response, answer?["content"])
    }

    /// An answer that belongs to no operation.
    private static func problem(_ response: HTTPResponse, _ status: Int) -> [String] {
        guard response.status == status else { return ["the status is not \(status)"] }
        let answer = check.resolve("#/components/responses/Problem\(status)")
        return headers(response, answer?["headers"]) + content(response, answer?["content"])
    }

    /// The header fields of HTTP itself, which the document does not list.
    private static let ofTransport = ["connection", "content-length", "content-type", "date", "transfer-encoding"]

    private static func headers(_ response: HTTPResponse, _ documented: JSONValue?) -> [String] {
        let documented = (documented?.members ?? []).map { (name: $0.name, header: resolved($0.value)) }
        let unknown = response.headers.map(\.name).filter { name in
            !ofTransport.contains(name.lowercased())
                && !documented.contains { $0.name.lowercased() == name.lowercased() }
        }
        return unknown.map { "the header \($0) is not documented" }
            + documented.flatMap { name, header -> [String] in
                guard let text = response[name] else {
                    let isPromised = header["required"] == .bool(true)
                    return isPromised ? ["the header \(name) is documented as always there; it is missing"] : []
                }
                guard let schema = header["schema"] else { return ["the header \(name) has no schema"] }
                let value = schema["type"]?.text == "integer" ? JSONValue.number(text) : .string(text)
                return check.faults(value, schema, at: "the header \(name)")
            }
    }

    private static func content(_ response: HTTPResponse, _ content: JSONValue?) -> [String] {
        guard let content else { return response.body.isEmpty ? [] : ["a body is not documented"] }
        let type = response["content-type"] ?? ""
        guard let media = content[type] else { return ["the content type \"\(type)\" is not documented"] }
        if type.hasPrefix("text/plain") || type == "text/csv" { return [] }
        guard let item = media["x-itemSchema"] else { return value(response.body, media["schema"]) }
        let lines = response.body.split(separator: 0x0A).map(Array.init)
        let prefix = Array("data: ".utf8)
        let items =
            type == "text/event-stream"
            ? lines.filter { $0.starts(with: prefix) }.map { Array($0.dropFirst(6)) } : lines
        return items.flatMap { value($0, item) }
    }

    private static func request(_ sent: [UInt8], _ entry: Entry) -> [String] {
        guard let content = entry.operation["requestBody"]?["content"] else { return [] }
        // The lines of a streamed body may be refused while the whole is taken, so they are not checked.
        guard let schema = content["application/json"]?["schema"] else { return [] }
        return value(sent, schema).map { "the request's body was taken, but \($0)" }
    }

    private static func value(_ bytes: [UInt8], _ schema: JSONValue?) -> [String] {
        guard let schema else { return ["no schema is documented"] }
        do {
            return check.faults(try JSONReader.read(bytes), schema)
        } catch {
            return ["it is not JSON: \(error)"]
        }
    }
}

extension Bench {
    /// Records an issue where an answer and the document disagree.
    func hold(_ method: String, _ target: String, sent: [UInt8]?, _ response: HTTPResponse) -> Answer {
        let faults = DocumentCheck.faults(method, target, sent: sent, response)
        if !faults.isEmpty {
            Issue.record("\(method) \(target) \(response.status), /openapi.json: \(faults.prefix(10))")
        }
        return Answer(response)
    }
}
