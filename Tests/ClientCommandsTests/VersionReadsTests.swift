// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayStore
import Requirements
import Synchronization
import Terminal
import TestPeers
import Testing
import UpgradeRules

/// The open paths' versions are read once for each change, whether the API or the fan-out's look at the store notices it.
@Suite("What the open paths answer from", .ownThread)
struct VersionReadsTests {
    @Test("it is read once a bump")
    func once() async throws {
        let daemon = try RealDaemon()
        let before = daemon.versionReads.count.load(ordering: .relaxed)
        for version in ["2.0.0", "2.1.0", "2.2.0", "2.3.0"] {
            let result = await daemon.run("version set \(RealDaemon.app) ios --required \(version) --yes")
            #expect(result.code == .done, "\(result.err)")
            #expect(daemon.looks.wait { $0.contains { $0.required?.text == version } })
        }
        // A look that was under way when the next bump came finds versions that are no longer shown, and costs one reading
        // more. There were two or more for each bump.
        let reads = daemon.versionReads.count.load(ordering: .relaxed) - before
        #expect((4...6).contains(reads), "\(reads)")
    }
}
