// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Every input that `make fuzz` kept or that once broke a property, through the same properties.
@Suite struct CorpusTests {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../Corpus").standardizedFileURL

    @Test(arguments: FuzzTarget.all)
    func `What was found stays found`(target: FuzzTarget) throws {
        let folder = Self.corpus.appending(path: target.name)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.count >= 5, "the corpus of \(target) is missing")
        for file in files {
            let bytes = [UInt8](try Data(contentsOf: file))
            do {
                try target.check(bytes)
            } catch {
                Issue.record("\(target.name)/\(file.lastPathComponent): \(error)")
            }
        }
    }

    @Test func `Every corpus has its target`() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
        #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
    }
}
