// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import UpgradeRules
import WireFormat

@testable import VersionSources

extension FuzzTarget {
    /// App Store Connect's documents, errors and budget.
    static let storeConnect = FuzzTarget("store-connect") { bytes in
        let source = AppStoreConnectSource(
            appID: 6_446_998_023, key: AppStoreConnectKey(issuerID: nil, keyID: "2X9R4HXF34"))
        switch Result(catching: { () throws(SourceFault) in try AppStoreConnectAnswer.page(bytes, of: source) }) {
        case .success(let page):
            try hold(
                page.next.map { $0.hasPrefix("\(source.list)?") || $0 == source.list } ?? true,
                "the token would go to \(page.next ?? "")")
            for entry in page.entries {
                let address = SourceClient.address(.phase(versionID: entry.id), source)
                try hold(
                    address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && address.count { $0 == "/" } == 6,
                    "an id is part of no path: \(address)")
                try hold(entry.release.state.utf8.count <= 100, "a state is long")
            }
            // With any page, the live version stays or is replaced by a newer one.
            let two = try Version("2.0")
            let before = AppStoreConnectEvidence(
                askedAt: Timestamp(seconds: 0),
                releases: [.init(version: two, state: AppStoreConnectEvidence.Release.live)])
            var machine = AppStoreConnectMachine(source: source, start: Timestamp(seconds: 0))
            switch machine.answered(.success(.page(page)), rate: nil, before: before, at: Timestamp(seconds: 1)) {
            case .success(let evidence)?:
                try hold(evidence.offered.map { $0.version >= two } ?? false, "what was live is gone")
                try hold(evidence.releases.count <= 51, "\(evidence.releases.count) releases are kept")
            case .failure(let fault)?: try holdShort(fault)
            case nil: try hold(machine.next(at: Timestamp(seconds: 1)) != .ask(.page(nil)), "the same again")
            }
        case .failure(let fault): try holdShort(fault)
        }
        if case .failure(let fault) = Result(catching: { () throws(SourceFault) in
            try AppStoreConnectAnswer.phase(bytes, of: "a")
        }) {
            try holdShort(fault)
        }
        for status in [401, 403, 404, 429, 500] {
            let fault = AppStoreConnectRefusal(
                status: status, body: bytes, date: String(decoding: bytes, as: UTF8.self)
            )
            .fault(of: source, at: Timestamp(seconds: 1_784_000_000))
            try holdShort(fault)
            try hold(
                !fault.reason.unicodeScalars.contains { $0.properties.generalCategory == .control },
                "a control character")
        }
        if let rate = AppStoreConnectRate(String(decoding: bytes, as: UTF8.self)) {
            try hold(rate.limit > 0 && rate.remaining >= 0, "a budget of \(rate)")
        }
    }

    private static func holdShort(_ fault: SourceFault) throws {
        try hold(fault.reason.utf8.count <= 4000, "the fault is long: \(fault.reason.utf8.count)")
    }
}
