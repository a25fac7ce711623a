// SPDX-License-Identifier: Apache-2.0
import Foundation
import WireFormat

/// Everything in the document that people write: descriptions and examples. A file for each tag, and `shared.json`.
///
/// Each text that is asked for counts as read; what is never read has no place in the document, and is a fault.
final class Texts {
    private let place: String
    private let members: [JSONMember]
    private var read: Set<String> = []
    private var missing: Set<String> = []
    private var parts: [String: Texts] = [:]

    /// - Parameter place: names it in a fault.
    init(_ value: JSONValue, at place: String) {
        self.place = place
        members = value.object ?? []
    }

    /// - Throws: where the folder or a file cannot be read, or a file is not JSON.
    convenience init(folder: URL) throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
        let members = try files.sorted().map { file in
            let bytes = try Data(contentsOf: folder.appending(path: file))
            return JSONMember(name: String(file.dropLast(".json".count)), value: try JSONReader.read(Array(bytes)))
        }
        self.init(.object(members), at: folder.lastPathComponent)
    }

    /// An example, or nil.
    func value(_ name: String) -> JSONValue? {
        read.insert(name)
        return members.first { $0.name == name }?.value
    }

    /// A description that the document cannot do without.
    func needed(_ name: String) -> JSONValue? {
        let value = value(name)
        if value == nil { missing.insert(name) }
        return value
    }

    /// A description, or nil.
    func text(_ name: String) -> String? { value(name)?.string }

    /// The texts below a name, which may be none.
    func part(_ name: String) -> Texts {
        if let part = parts[name] { return part }
        let part = Texts(value(name) ?? [:], at: "\(place)/\(name)")
        parts[name] = part
        return part
    }

    /// A text alone, or a description with an example.
    func described(_ name: String) -> (description: JSONValue?, example: JSONValue?) {
        if text(name) != nil { return (value(name), nil) }
        return (part(name).value("description"), part(name).value("example"))
    }

    /// The same, of what the document cannot do without.
    func neededDescribed(_ name: String) -> (description: JSONValue?, example: JSONValue?) {
        let text = described(name)
        if text.description == nil { missing.insert(name) }
        return text
    }

    /// The places of texts that have none in the document, and of those that it lacks.
    var faults: [String] {
        members.filter { !read.contains($0.name) }.map { "\(place)/\($0.name) has no place in the document" }
            + missing.sorted().map { "\(place)/\($0) is missing" } + parts.values.flatMap(\.faults).sorted()
    }
}
