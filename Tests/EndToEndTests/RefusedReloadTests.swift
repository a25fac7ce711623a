// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import HookReceiver
import OwnThread
import Signing
import TestPeers
import Testing
import WireFormat

/// SIGHUP while another program keeps the store's write lock: the real binary takes all of the configuration or nothing of it.
@Suite(.ownThread) struct RefusedReloadTests {
    private static let otherSecret = Array("another secret of 32 bytes, used".utf8)

    private let bench: Workbench
    private let authority: CertificateAuthority
    private let old: HookReceiver
    private let new: HookReceiver

    init() throws {
        bench = try Workbench()
        authority = try bench.speakTLS(["localhost"])
        old = try HookReceiver()
        new = try HookReceiver()
        try Data(HookReceiver.secret.utf8).write(to: bench.folder.appending(path: "notify-secret"))
        try bench.reconfigure("webhooks: {", "\(notify(old)) webhooks: {")
    }

    private func notify(_ receiver: HookReceiver) -> String {
        """
        notify: [{ url: "\(receiver.url)", secret: { file: "\(bench.path("notify-secret"))" },
                   events: ["campaign.completed"] }],
        """
    }

    /// Replaces receivers, secret and certificate.
    private func changeConfiguration() throws {
        try bench.edit { $0.replacing(old.url, with: new.url) }
        try Data("whsec_\(Base64.encode(Self.otherSecret))".utf8).write(to: URL(filePath: bench.path("webhook-secret")))
        try bench.issue(
            ["localhost"], by: CertificateAuthority(validity: .days(2, from: Int64(Date.now.timeIntervalSince1970))))
    }

    /// Sends the webhook; trusts only the authority of the first certificate.
    private func bump(_ required: String, secret: [UInt8] = Workbench.secret) throws -> Int {
        let address = try #require(bench.relay).address
        let request = Workbench.webhook(
            required, id: "bump-\(required.prefix(1))", to: "https://\(address)", key: secret)
        return try HTTPClient(trustedCertificates: bench.path("api-ca.pem")).send(request).status
    }

    @Test func aReloadThatTheStoreRefusesChangesNothingAndIsTakenAfterTheRepair() throws {
        defer {
            bench.kill()
            old.stop()
            new.stop()
        }
        try bench.start()
        try bench.register(Fleet(count: 10))
        try #require(try bump("2.0.0") < 300)
        try #require(old.wait { $0.count == 1 })

        let outsider = try OutsideWriter(bench.path("relay.db"))
        try changeConfiguration()
        let relay = try #require(bench.relay)
        relay.send(SIGHUP)
        let line = relay.waitForLine("reloaded", within: .seconds(60))
        #expect(line?.contains(" not reloaded: the configuration stays as it was") == true)
        try outsider.commit()

        #expect(try bump("3.0.0", secret: Self.otherSecret) == 401)
        #expect(try bump("3.0.0") < 300, "with the certificate and the secret of before")
        #expect(old.wait { $0.count == 2 }, "notifications go on")
        #expect(new.deliveries.isEmpty)

        try bench.reload()
        #expect(throws: TransportError.self, "another certificate") { try bump("4.0.0", secret: Self.otherSecret) }
        try bench.issue(["localhost"], by: authority)
        try bench.reload()
        #expect(try bump("4.0.0") == 401)
        #expect(try bump("4.0.0", secret: Self.otherSecret) < 300)
        #expect(new.wait { $0.count == 1 })
        // A notification whose delivery could not be recorded while the store was locked comes again, under its id.
        #expect(Set(old.deliveries.map(\.id)).count == 2)
    }
}
