// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Testing

/// The commands of the guides, as printed there, against a relay. The blocks of a page run one after the other.
///
/// Blocks that need a whole system run in `make test-service`, those of the image in `make test-image`.
@Suite(.ownThread) struct GuideBlocksTests {
    /// One block: the commands before and after it, the words that it must print, and values for its placeholders.
    private struct Step {
        var before = ""
        var says: [String] = []
        var replacing: [(String, String)] = []
        var after = ""
    }

    private static let known = String(repeating: "ab", count: 32)
    private static let colleague = "7f3a0c51d2e94b68a1f7c3d5e6b7081929304a5b6c7d8e9fa0b1c2d3e4f50617"
    private static let withdraw = "upgrade-relay version withdraw com.example.app ios --required 2.0.0 --yes\n"

    private static let pages: [String: [Step]] = [
        "ANDROID": [
            Step(before: "echo '{}' > example-project-1a2b3c.json", after: "[ -s secrets/fcm-account ]"),
            Step(
                says: ["listening on"],
                replacing: [("--write-ca fcm-ca.pem", "--write-ca fcm-ca.pem --listen 127.0.0.1:0 > said &")],
                after:
                    "until grep listening said; do sleep 0.1; done; kill %1; wait; [ -s account.json ] && [ -s fcm-ca.pem ]"
            ),
        ],
        "APPS": [
            Step(
                before: """
                    echo 'app,platform,token,telephone,version,environment' > devices.csv
                    echo com.example.app,ios,\(known),13900139000,1.8.0,production >> devices.csv
                    """, after: "grep -q 1.8.0 registry.csv"),
            Step(says: [#""telephone":"13800138000""#]),
            Step(says: [#""items":[]"#]),
            Step(
                before: "upgrade-relay version set com.example.app ios --required 2.0.0",
                says: [#""needUpgrade":"1""#, #""required":"2.0.0""#]),
            Step(says: ["2.0.0"], after: "! upgrade-relay notice show com.example.app ios 2> /dev/null"),
        ],
        "NIGHT": [
            Step(
                before: """
                    echo 'app,platform,token,telephone,version,environment' > devices.csv
                    echo com.example.app,ios,\(known),13900139000,1.8.0,production >> devices.csv
                    echo com.example.app,ios,\(colleague),13800138000,1.9.0,production >> devices.csv
                    upgrade-relay devices import devices.csv
                    """, says: ["2.0.0", "accepted"]),
            Step(says: ["Locked out"]),
            Step(says: ["is running", "completed"]),
            // A campaign of two devices is over before it could be paused: this one waits behind its canary.
            Step(
                before: withdraw
                    + "upgrade-relay version set com.example.app ios --required 2.0.0 --canary 13800138000",
                says: ["paused", "withdrawn"]),
            Step(says: ["campaign.cancel"], after: "[ -s release-2.0.0.html ]"),
        ],
        "PACING": [
            Step(
                before: """
                    upgrade-relay version set com.example.app ios --required 2.0.0 --canary 13800138000
                    upgrade-relay campaigns pause latest
                    """, says: ["is running"])
        ],
        "PROXIES": [
            Step(
                before: "upgrade-relay version set com.example.app ios --required 2.0.0",
                says: ["HTTP/1.1 426 ", "urn:upgrade-relay:upgrade-required"],
                replacing: [("curl -i", "command curl -si")])
        ],
        "SOURCES": [Step(says: [#""required":"2.0.0""#])],
        "VERSIONS": [
            Step(says: ["2.0.0"]),
            Step(
                before: "upgrade-relay version set com.example.app ios --required 20.0.0 --yes", says: ["withdrawn"]),
            Step(
                before: withdraw, says: ["is running"],
                replacing: [("campaigns approve ID", "campaigns approve latest")]),
            // Independent of the day: 30 days ahead are allowed.
            Step(
                before: withdraw, says: ["2.0.0"],
                replacing: [("2026-12-01", "$(date -d '+30 days' +%F)")]),
            Step(
                before: "upgrade-relay version set com.example.app ios --latest 3.0.0 --yes",
                says: ["2.1.5"]),
            Step(says: ["2.0.0"], after: "upgrade-relay version show com.example.app | grep 需要新版本"),
        ],
    ]

    @Test(arguments: pages.keys.sorted()) func theBlocksOfAPageRun(_ page: String) throws {
        let steps = try #require(Self.pages[page])
        let blocks = Guide.blocks(in: try Guide.text("etc/\(page).md"))
        try #require(blocks.count == steps.count)
        let bench = try Workbench()
        // The devices that the blocks of APPS register.
        bench.knows([
            Fleet.Device(token: Self.known, telephone: "13900139000", version: "1.8.0"),
            Fleet.Device(
                token: Self.colleague, telephone: "13800138000", version: "1.9.0"),
        ])
        try bench.start()
        let address = try #require(bench.relay?.address)
        var script = """
            trap 'kill $(jobs -p) 2> /dev/null || :' EXIT
            cd '\(bench.folder.path)'; mkdir secrets; cp webhook-secret secrets
            PATH=$(dirname "$0"):$PATH
            export UPGRADE_RELAY_CONFIG='\(bench.path("config.json5"))'
            curl() { command curl -sS --fail-with-body "$@"; }
            mark() { echo "== $1 =="; }
            # What asks is answered: nobody sits at a terminal here.
            upgrade-relay() {
                case "$1 ${2-}" in
                "version release" | "version withdraw" | "version unblock" | "campaigns approve" | "campaigns cancel" | \
                    "devices remove" | "tokens revoke" | "store prune" | "notice set") command upgrade-relay "$@" --yes ;;
                # In the background it takes the shell's place, so that the shell's end ends it.
                *) if [ "$BASHPID" = "$$" ]; then command upgrade-relay "$@"; else exec upgrade-relay "$@"; fi ;;
                esac
            }

            """
        for (index, (step, text)) in zip(steps, blocks).enumerated() {
            var block = text.replacing("http://127.0.0.1:8480", with: "http://\(address)")
                .replacing("/etc/upgrade-relay/secrets", with: "secrets")
            for (old, new) in step.replacing {
                try #require(block.contains(old), "\(page), block \(index): no \(old)")
                block = block.replacing(old, with: new)
            }
            script += "\(step.before)\nmark \(index)\n\(block)\n\(step.after)\n"
        }
        let result = try CommandResult.of(
            [
                "--kill-after=5", "60", "bash", "-eu", "-o", "pipefail", "-c", script + "\nmark end\n",
                CommandResult.binary().path,
            ],
            program: URL(filePath: "/usr/bin/timeout"))
        #expect(result.status == 0, "\(page): \(result.output) \(result.errors)")
        for (index, step) in steps.enumerated() {
            let part = result.output.split(separator: "== \(index) ==\n", maxSplits: 1).last ?? ""
            let said = part.split(separator: "== \(index + 1) ==\n", maxSplits: 1).first ?? ""
            for words in step.says {
                #expect(
                    said.contains(words),
                    "\(page), block \(index) does not say \(words): \(result.output) \(result.errors)")
            }
        }
    }

    /// No page has a block that nothing runs.
    @Test func everyPageWithCommandsIsRunBySomething() throws {
        let (service, image) = (try Guide.text("Tests/Service/run"), try Guide.text("Tests/Image/guide"))
        let names = try FileManager.default.contentsOfDirectory(atPath: Guide.root.appending(path: "etc").path)
        var pages = 0
        for name in names where name.hasSuffix(".md") {
            let page = String(name.dropLast(3))
            guard try !Guide.blocks(in: Guide.text("etc/\(name)")).isEmpty else { continue }
            pages += 1
            #expect(
                Self.pages[page] != nil || page == "TESTING" || service.contains("etc/\(name)")
                    || image.contains("etc/\(name)"), "nothing runs the blocks of etc/\(name)")
        }
        #expect(pages > 8)
    }
}
