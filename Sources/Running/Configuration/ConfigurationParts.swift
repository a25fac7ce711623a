// SPDX-License-Identifier: Apache-2.0
import Threading
import WireFormat

/// The files of one configuration as one document: the file itself, and those of the folder `config.d` beside it, in the order of their
/// names.
///
/// Objects are merged member by member, so that each team can keep its app in a file of its own. Any other value stands in one file
/// only: where two files set it, neither is preferred, and the fault names both. `null` gives way to a value of another file.
struct ConfigurationParts {
    /// The folder's name.
    static let folder = "config.d"
    /// Names of other files, such as an editor's backup, are passed over.
    private static let suffix = ".json5"

    private(set) var tree: JSONValue = .object([])
    private(set) var faults: [FieldFault] = []
    /// Whether a file is no JSON5, or no object.
    private(set) var hasUnreadFile = false
    private let main: String
    /// By the path of a key, as faults name it: the file of the folder that sets it.
    private var origins: [String: String] = [:]

    /// - Parameter main: the path of the file that the user names.
    init(of main: String) { self.main = main }

    /// The paths of the folder's files, in the order in which they are read; none where there is no folder.
    ///
    /// - Throws: where the folder cannot be read.
    static func files(beside main: String) throws(FieldFault) -> [String] {
        let directory = FileProbe.directory(of: main)
        let path = directory.hasSuffix("/") ? directory + folder : "\(directory)/\(folder)"
        guard FileProbe.exists(path) else { return [] }
        do throws(SystemError) {
            let names = try Folder.names(path).filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".") }
            return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { "\(path)/\($0)" }
        } catch {
            throw FieldFault("", "the folder \(path) cannot be read: \(error)")
        }
    }

    /// Takes the next file, of which the main one is the first.
    mutating func take(_ bytes: [UInt8], from file: String) {
        do throws(FieldFault) {
            let (part, duplicates) = try JSON5Reader.read(bytes)
            faults += duplicates.map { named($0, file) }
            guard part.object != nil else {
                throw FieldFault("", "\(part.held) is not a configuration; an object { … } is")
            }
            tree = file == main ? part : merged(tree, with: part, at: "", of: file)
        } catch {
            hasUnreadFile = true
            faults.append(named(error, file))
        }
    }

    /// The fault with the file that sets its key, where that is another than the main one.
    func located(_ fault: FieldFault) -> FieldFault {
        origin(of: fault.field).map { FieldFault(fault.field, "\(fault.reason) (in \($0))") } ?? fault
    }

    /// The file of the folder that sets the key, or an object around it; nil: the main file, or none.
    func origin(of path: String) -> String? {
        var path = path[...]
        while !path.isEmpty {
            if let file = origins[String(path)] { return file }
            guard let end = path.lastIndex(where: { $0 == "." || $0 == "[" }) else { return nil }
            path = path[..<end]
        }
        return nil
    }

    /// Adds the file to a fault of the whole file; the main one is named by the error's heading.
    private func named(_ fault: FieldFault, _ file: String) -> FieldFault {
        file == main ? fault : FieldFault(fault.field, "\(file): \(fault.reason)")
    }

    private mutating func merged(
        _ base: JSONValue, with part: JSONValue, at path: String, of file: String
    ) -> JSONValue {
        if part == .null { return base }
        guard case .object(var members) = base, case .object(let more) = part else {
            guard base == .null else {
                faults.append(
                    FieldFault(
                        path, "is set in \(origin(of: path) ?? main) and in \(file); one of them must leave it out"))
                return base
            }
            origins[path] = file
            return part
        }
        for member in more {
            let place = ConfigurationReader.path(of: member.name, in: path)
            guard let index = members.lastIndex(where: { $0.name == member.name }) else {
                members.append(member)
                origins[place] = file
                continue
            }
            members[index].value = merged(members[index].value, with: member.value, at: place, of: file)
        }
        return .object(members)
    }
}
