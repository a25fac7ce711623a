// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The map of rooms in CONTRIBUTING.md has the targets of Package.swift, in the order of their imports.
@Suite struct ProjectMapTests {
    private static func manifest() throws -> [String: Set<String>] {
        let text = try ManualTests.file("Package.swift")
        let declaration =
            /(?:room|command|system|tests|\.target|\.executableTarget|\.testTarget|\.systemLibrary)\(\s*(?:name: )?"([A-Za-z0-9-]+)"(?:, (?:in|path): "[^"]+")?(?:,\s*(?:dependencies: )?\[([^\]]*)\])?/
        var targets: [String: Set<String>] = [:]
        for match in text.matches(of: declaration) {
            let names = match.output.2?.matches(of: /"([^"]+)"/).map { String($0.output.1) } ?? []
            targets[String(match.output.1)] = Set(names)
        }
        // Only where the fuzzers are built.
        for name in ["CFuzzer", "fuzz"] { targets[name] = nil }
        return targets
    }

    /// The targets of each line of the map.
    private static func rows() throws -> [[String]] {
        let text = try ManualTests.file("CONTRIBUTING.md")
        return text.split(separator: "\n").filter { $0.hasPrefix("- `") }.map { line in
            line.prefix { $0 != ":" }.matches(of: /`([^`]+)`/).map { String($0.output.1) }
        }
    }

    /// The tests of a room go by its name, without a line of their own.
    @Test func everyTargetIsOnTheMapOnce() throws {
        let told = try Self.rows().flatMap { $0 }
        let known = Set(try Self.manifest().keys)
        #expect(known.count > 30)
        let named = known.filter { !$0.hasSuffix("Tests") || !known.contains(String($0.dropLast(5))) }
        #expect(Set(told) == named)
        #expect(told.count == Set(told).count)
    }

    /// The folders of Sources are the wings of the table.
    @Test func everyWingIsInTheTable() throws {
        let folder = ManualTests.root.appending(path: "Sources")
        let folders = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let text = try ManualTests.file("CONTRIBUTING.md")
        let table = try #require(text.firstMatch(of: /\| wing of `Sources` \| for \|\n\|---\|---\|\n((?:\|.*\n)+)/))
            .output.1
        let wings = table.matches(of: /(?m)^\| (\w+) \|/).map { String($0.output.1) }
        #expect(Set(wings + ["upgrade-relay"]) == Set(folders))
    }

    /// A room that imports a driver could use what only one database has.
    @Test func onlyTheDoorKnowsTheStoresDrivers() throws {
        let folder = ManualTests.root.appending(path: "Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        let rooms = try files.filter { file in
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            return text.contains(/^(?:package |public )?import RelayStoreSQLite$/.anchorsMatchLineEndings())
        }.map { String($0.split(separator: "/")[1]) }
        #expect(Set(rooms) == ["StoreDrivers"])
    }

    /// Foundation's tables of Unicode and time zones alone were half of the program.
    @Test func nothingThatIsInstalledImportsFoundation() throws {
        let folder = ManualTests.root.appending(path: "Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(files.count > 300)
        for file in files {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            #expect(!text.contains(/^(?:package |public )?import Foundation/.anchorsMatchLineEndings()), "\(file)")
        }
    }

    /// A limit counts the wait for a place too (`Trait.ownThread`): a shorter one fails where the machine is slow.
    @Test func everyTimeLimitIsAnHour() throws {
        let folder = ManualTests.root.appending(path: "Tests")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        var limits = 0
        for file in files {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            for limit in text.matches(of: /\.timeLimit\(\.minutes\((?<minutes>\d+)\)\)/) {
                #expect(limit.minutes == "60", "\(file)")
                limits += 1
            }
        }
        #expect(limits > 20)
    }

    @Test func eachRoomKnowsOnlyRoomsBelowIt() throws {
        let manifest = try Self.manifest()
        var lines: [String: Int] = [:]
        for (line, names) in try Self.rows().enumerated() {
            for name in names { lines[name] = line }
        }
        let folder = ManualTests.root.appending(path: "Sources")
        var imports = 0
        let paths = try FileManager.default.contentsOfDirectory(atPath: folder.path).flatMap { wing in
            wing == "upgrade-relay"
                ? [wing]
                : try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: wing).path)
        }
        for room in paths {
            let line = try #require(lines[room], "\(room)")
            for known in try #require(manifest[room], "\(room)") {
                #expect(try #require(lines[known], "\(known)") > line, "\(room) knows \(known)")
                imports += 1
            }
        }
        #expect(imports > 100)
    }
}
