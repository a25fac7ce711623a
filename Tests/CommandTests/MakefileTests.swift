// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Testing

/// "make" on a bare machine.
@Suite(.ownThread) struct MakefileTests {
    /// Every target that needs packages of its own, with the packages that the Makefile lists for it.
    private static func needs() throws -> [String: [String]] {
        let lines = try ManualTests.file("Makefile").split(separator: "\n")
        var needs: [String: [String]] = [:]
        for line in lines {
            guard let match = line.wholeMatch(of: /NEEDS_([a-z-]+) = (.*)/) else { continue }
            needs[String(match.output.1)] = match.output.2.split(separator: " ").map(String.init)
        }
        return needs
    }

    /// - Returns: the packages that `make` would install for these targets where none is installed. Nothing is installed.
    private static func installed(for targets: [String]) throws -> Set<String> {
        let stubs = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: stubs, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: stubs) }
        // The call ends at the first line of apt-get, so that no target is made.
        for (name, text) in [
            ("dpkg-query", "exit 1"), ("apt-get", "exit 1"), ("sudo", "exec \"$@\""), ("tee", "exec cat"),
            ("chmod", ""), ("rm", ""),
        ] {
            let file = stubs.appending(path: name)
            try "#!/bin/sh\n\(text)\n".write(to: file, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        }
        let make = Process()
        make.executableURL = URL(filePath: "/usr/bin/make")
        make.arguments = ["--no-print-directory", "-C", ManualTests.root.path, "packages"] + targets
        make.environment = ["PATH": "\(stubs.path):/usr/bin:/bin"]
        let output = Pipe()
        make.standardOutput = output
        make.standardError = FileHandle.nullDevice
        try make.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        make.waitUntilExit()
        #expect(make.terminationStatus != 0)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("installing ") })
        return Set(line.split(separator: " ").dropFirst().map(String.init))
    }

    @Test func aCallWithSeveralTargetsInstallsWhatAllOfThemNeed() throws {
        let needs = try Self.needs()
        #expect(needs.count > 15)
        let plain = needs.values.joined().filter { !$0.hasPrefix("$(") }
        let everything = try Self.installed(for: needs.keys.sorted())
        #expect(everything.isSuperset(of: plain), "missing: \(Set(plain).subtracting(everything).sorted())")
        #expect(try Self.installed(for: ["deb", "image"]).isSuperset(of: ["dpkg-dev", "mmdebstrap", "jq"]))
        #expect(try !Self.installed(for: ["demo"]).contains("mmdebstrap"))
    }

    /// The fault was a package that only one target of a call got.
    @Test func noTargetHasPackagesThatACallWithAnotherFirstWouldMiss() throws {
        let text = try ManualTests.file("Makefile")
        #expect(text.matches(of: /(?m)^[a-z -]+: *PACKAGES/).isEmpty)
        for target in try Self.needs().keys {
            #expect(text.contains("\n\(target): ") || text.contains(" \(target): "), "\(target) is no target")
        }
    }

    /// CONTRIBUTING lists when each target runs; its parts of a night are those of `.ci/night`.
    @Test func theTableOfRunsIsWhatRuns() throws {
        let text = try ManualTests.file("CONTRIBUTING.md")
        let section = try #require(text.components(separatedBy: "\n## ").first { $0.hasPrefix("What runs when") })
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| make ") }
        #expect(rows.count > 15)
        let makefile = try ManualTests.file("Makefile")
        for row in rows {
            let words = row.split(separator: "|")[0].split(separator: " ").dropFirst()
            for target in words.prefix(while: { !$0.contains("=") }) where target != "make" && target != "mutants" {
                #expect(makefile.contains("\n\(target): "), "\(target) is no target")
            }
        }
        let said = rows.map { $0.split(separator: "|", omittingEmptySubsequences: false)[3] }
            .filter { $0.contains("part") }.flatMap { $0.matches(of: /`([a-z]+)`/).map { String($0.output.1) } }
        let night = try ManualTests.file(".ci/night")
        let parts = night.matches(of: #/(?m)^([a-z]+) +\d+ +\d+ (fixed|elastic) /#).map { String($0.output.1) }
        #expect(Set(said) == Set(parts).subtracting(["build"]) && said.count == Set(said).count, "\(said) \(parts)")
    }
}
