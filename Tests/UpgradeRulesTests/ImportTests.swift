// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// An app builds `UpgradeRules` for iOS, watchOS, Android: nothing may be imported that one of them lacks.
@Suite struct ImportTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test func theRulesImportNothing() throws {
        let folder = Self.root.appending(path: "Sources/Rules/UpgradeRules")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(files.contains("Version.swift"))
        for file in files {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            for line in Self.imports(in: text) { Issue.record("\(file): \(line)") }
        }
    }

    @Test func theTargetDependsOnNothing() throws {
        let manifest = try String(contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8)
        #expect(manifest.contains(#"room("UpgradeRules", in: "Rules"),"#))
    }

    @Test func theCheckFindsWhatItLooksFor() {
        let found = [
            "import Foundation", "  public import Foundation", "@testable import X", "@_exported import Glibc",
            "import struct Foundation.Data", "#if canImport(UIKit)\nimport UIKit\n#endif\nimport Foundation",
        ]
        for text in found { #expect(Self.imports(in: text).count == 1, "\(text)") }
        let fine = [
            "/// import Foundation", "let important = 1", "#if canImport(UIKit)\nimport UIKit\n#endif",
            "// import of the rules",
        ]
        for text in fine { #expect(Self.imports(in: text).isEmpty, "\(text)") }
    }

    /// The import lines that stand outside of `#if canImport`.
    private static func imports(in text: String) -> [String] {
        var depth = 0
        var found: [String] = []
        for line in text.split(separator: "\n").map({ $0.trimmingCharacters(in: .whitespaces) }) {
            if line.hasPrefix("#if") { depth += depth > 0 || line.contains("canImport") ? 1 : 0 }
            if line.hasPrefix("#endif") { depth -= depth > 0 ? 1 : 0 }
            guard depth == 0, !line.hasPrefix("//") else { continue }
            if line.split(separator: " ").prefix(3).contains("import") { found.append(line) }
        }
        return found
    }
}
