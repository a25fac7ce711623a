// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import Mutation

@Suite struct PatchTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// A patch that does not apply any more is worth nothing; one that cannot stand behind a switch is not measured.
    @Test func allPatchesStandInOneSource() throws {
        let patches = try Patch.all(in: Self.root.appending(path: "Tests/Simulation/Mutants"))
        #expect(patches.count >= 46)
        func read(_ file: String) throws -> String { try ScratchCopy.text(file, in: Self.root) }
        let mutants = try patches.map { try $0.mutant(read) }
        #expect(Set(mutants.map(\.number)).count == mutants.count, "two patches have one number")
        let sources = try ScratchCopy.schemata(mutants, read: read)
        for mutant in mutants {
            for file in mutant.edits.keys {
                #expect(sources[file]?.text.contains("mutantIsOn(\(mutant.number))") == true, "\(mutant.name)")
            }
        }
    }
}
