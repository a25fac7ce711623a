// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The documents lead to one another, and the first one stays short.
@Suite struct DocumentTests {
    private static let root = ManualTests.root

    static func documents() throws -> [String] {
        let etc = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "etc").path)
        return ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
            + etc.filter { $0.hasSuffix(".md") }.map { "etc/\($0)" }
    }

    /// The headings, as a link names them: in lowercase, without punctuation, hyphens for spaces.
    private static func anchors(_ path: String) throws -> Set<String> {
        var inCode = false
        var anchors: Set<String> = []
        for line in try ManualTests.file(path).split(separator: "\n") {
            if line.hasPrefix("```") { inCode.toggle() }
            guard !inCode, line.hasPrefix("#") else { continue }
            let title = line.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
            let kept = title.filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" }
            anchors.insert(kept.replacing(" ", with: "-"))
        }
        return anchors
    }

    @Test func everyLinkLeadsSomewhere() throws {
        var links = 0
        for document in try Self.documents() {
            for match in try ManualTests.file(document).matches(of: /\]\(([^)\s]+)\)/) {
                let target = match.output.1
                guard !target.hasPrefix("http") else { continue }
                links += 1
                let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let folder = (document as NSString).deletingLastPathComponent
                let path = parts[0].isEmpty ? document : (folder as NSString).appendingPathComponent(String(parts[0]))
                let file = Self.root.appending(path: path).path
                guard FileManager.default.fileExists(atPath: file) else {
                    Issue.record("\(document) leads to \(target)")
                    continue
                }
                if parts.count == 2 {
                    #expect(try Self.anchors(path).contains(String(parts[1])), "\(document) leads to \(target)")
                }
            }
        }
        #expect(links > 20)
    }

    @Test func everyPlaceThatIsNamedExists() throws {
        var places = 0
        for document in try Self.documents() where document != "CHANGELOG.md" {
            for match in try ManualTests.file(document).matches(of: /`((?:Sources|Tests|etc|systemd)\/[^`\s*]+)`/) {
                let path = Self.root.appending(path: String(match.output.1)).path
                #expect(FileManager.default.fileExists(atPath: path), "\(document) names \(match.output.1)")
                places += 1
            }
        }
        #expect(places > 20)
    }

    /// FAULTS 3.11 and 4: each of these facts was left out, or was wrong.
    @Test(arguments: [
        ("README.md", "or `INVALID_ARGUMENT` where others took the payload"),
        ("etc/PROXIES.md", "map $http_x_app_platform$http_user_agent $app_platform"),
        ("etc/PROXIES.md", "`message` stands there, too, where the bump brought one"),
        ("etc/VERSIONS.md", "A device that registers later, with an old version, gets no push of that"),
        ("etc/SOURCES.md", "as the secret is the file's whole text, `whsec_…` included"),
        ("etc/ANDROID.md", "Answers and lists of the relay have it as `apnsId`, whatever the platform."),
        ("etc/ANSWERS.md", "has an apostrophe before such a cell"),
        ("etc/ACCESS.md", "phone numbers and push tokens are masked in every answer"),
    ])
    func whatAnOperatorHasToKnowIsSaid(document: String, words: String) throws {
        #expect(try ManualTests.file(document).contains(words))
    }

    /// A reader with that question finds the page by it.
    @Test func eachPageAnswersOneQuestionAndTheReadmeLeadsToIt() throws {
        let readme = try ManualTests.file("README.md")
        for page in try Self.documents() where page.hasPrefix("etc/") {
            let title = try #require(try ManualTests.file(page).split(separator: "\n").first)
            #expect(title.hasPrefix("# ") && title.hasSuffix("?"), "\(page): \(title)")
            #expect(readme.contains("](\(page))"), "\(page)")
        }
    }

    /// Without the bars of tables.
    @Test func theGuidesAreShort() throws {
        func words(_ page: String) throws -> Int {
            try ManualTests.file(page).split(whereSeparator: \.isWhitespace).count { $0 != "|" }
        }
        let guides = try Self.documents().filter { $0.hasPrefix("etc/") || $0 == "README.md" }
        #expect(guides.count > 20)
        #expect(try guides.reduce(0) { try $0 + words($1) } <= 30_000)
        #expect(try words("CONTRIBUTING.md") <= 2500)
    }

    @Test func theReadmeIsForANewcomer() throws {
        #expect(try ManualTests.file("README.md").split(whereSeparator: \.isWhitespace).count < 1000)
    }
}
