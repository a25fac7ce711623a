// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import TestPeers
import Testing

/// FAULTS 4: README's blocks as one script raced the daemon's start.
@Suite(.ownThread) struct ReadmeTests {
    @Test func theBlocksWithoutAppleAndGoogleRunAsOneScript() throws {
        let readme = try Guide.text("README.md")
        let begin = try #require(readme.range(of: "## Try it without Apple and Google"))
        let end = try #require(readme.range(of: "## First real use"))
        let blocks = Guide.blocks(in: readme[begin.upperBound..<end.lowerBound])
        try #require(blocks.count == 4)
        // The block that asks for that campaign's outcome; the block before it is for Apple and systemd.
        let asking = Guide.blocks(in: readme[end.upperBound...])
        try #require(asking.count == 2 && asking[1].contains("users explain"))
        let folder = try TestFolder.make()
        let (apns, api) = (try Loopback.ReservedPort(), try Loopback.ReservedPort())
        // Its own folder and ports, so that it can run beside other tests; the binary exists already.
        var script = (blocks + [asking[1]]).joined()
        for (text, new) in [
            ("make build\n", ""), ("PATH=$PWD/.build/release:$PATH\nmkdir /tmp/relay", "mkdir -p /tmp/relay"),
            ("/tmp/relay", folder), ("https://127.0.0.1:2197", "https://127.0.0.1:\(apns.port)"),
            ("simulate-apns ", "simulate-apns --listen 127.0.0.1:\(apns.port) "),
            (
                "upgrade-relay serve &",
                "sed -i 's/listen: { /listen: { address: \"127.0.0.1:\(api.port)\", /' config.json5; upgrade-relay serve &"
            ),
        ] {
            try #require(script.contains(text), "README has no \(text)")
            script = script.replacing(text, with: new)
        }
        script =
            "set -e; trap 'kill $(jobs -p) 2>/dev/null || :; wait' EXIT\nPATH=$(dirname \"$0\"):$PATH\n" + script
        let result = try CommandResult.of(
            ["60", "bash", "-c", script, CommandResult.binary().path], program: URL(filePath: "/usr/bin/timeout"))
        #expect(result.status == 0, "\(result.output) \(result.errors)")
        #expect(result.output.contains(#/com\.example\.app +ios +2\.0\.0 +completed +3 +100% +1 /#), "\(result.output)")
        #expect(result.output.contains(/accepted/), "\(result.output)")
        #expect(result.output.contains(/pushes accepted +1\n/), "\(result.output)")
    }

    /// The commands that start the stand-ins work.
    @Test func theBlocksOfTheTestingPageRun() throws {
        let blocks = Guide.blocks(in: try Guide.text("etc/TESTING.md"))
        try #require(blocks.count == 2)
        let ports = blocks.joined().replacing(#/127\.0\.0\.1:219\d/#, with: "127.0.0.1:0")
        let script =
            "set -e; cd \(try TestFolder.make()); trap 'kill $(jobs -p) 2>/dev/null || :; wait' EXIT\nPATH=$(dirname \"$0\"):$PATH\n"
            + ports + "until grep -q port hooks.out; do sleep 0.1; done\n"
            + "kill -TERM $(jobs -p); wait; cat hooks.out; ls -A; exit 0\n"
        let result = try CommandResult.of(
            ["60", "bash", "-c", script, CommandResult.binary().path], program: URL(filePath: "/usr/bin/timeout"))
        #expect(result.status == 0, "\(result.output) \(result.errors)")
        #expect(result.output.contains(#"{"verified":0"#), "\(result.output)")
        for file in ["key.p8", "apns-ca.pem", "account.json", "fcm-ca.pem", "hook-secret"] {
            #expect(result.output.contains(file), "\(file): \(result.output)")
        }
    }
}
