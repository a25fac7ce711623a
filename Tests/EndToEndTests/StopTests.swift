// SPDX-License-Identifier: Apache-2.0
import Foundation
import HookReceiver
import OwnThread
import Testing

/// SIGTERM while something outside does not answer.
@Suite(.ownThread) struct StopTests {
    @Test(
        .enabled(if: DeadResolver.isPossible, "the C library's aliases are read where DNS comes right after the files"))
    func aNameServerThatDoesNotAnswerHoldsNoStopUp() throws {
        let bench = try Workbench(iosKeys: #"sources: [{ launchGate: { url: "https://nobody/gate.json" } }],"#)
        let resolver = try DeadResolver(in: bench.folder)
        try Data(HookReceiver.secret.utf8).write(to: bench.folder.appending(path: "notify-secret"))
        try bench.reconfigure(
            "webhooks: {",
            #"notify: [{ url: "https://nobody/", secret: { file: "\#(bench.path("notify-secret"))" } }], webhooks: {"#)
        try bench.launch(environment: ["HOSTALIASES": resolver.path])
        let relay = try #require(bench.relay)
        try relay.waitUntilReady()
        #expect(resolver.waitForQuestion(), "the source")
        try bench.register(Fleet(count: 10))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try bench.follow(id) { $0.isFinal }
        #expect(resolver.waitForQuestion(), "the receiver of notifications")
        relay.send(SIGTERM)
        // Nobody lets go of the two names before that.
        #expect(relay.waitForLine("stopped", within: .seconds(60)) != nil, "\(relay.log)")
        withExtendedLifetime(resolver) {}
        if relay.log.contains("stopped") { #expect(relay.wait() == (0, false)) } else { bench.kill() }
    }
}
