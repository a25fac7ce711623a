// SPDX-License-Identifier: Apache-2.0
import HTTPServer
package import RelayStore
import Requirements
import WireFormat

extension API {
    func storeStatus() throws -> Response {
        let status = try store.status()
        let fall = try store.fallNow()
        return .json(200, StoreDocument.json(of: status, mark: try store.mark(), seen: fall?.seen))
    }

    /// Accepts a store that went back, on a person's word and with the marks that the person was shown.
    func acceptStore(body: [UInt8], by caller: Caller) throws -> Response {
        var fields = try BodyFields(body)
        let seen = Self.mark(&fields, "seenMark")
        let found = Self.mark(&fields, "foundMark")
        try fields.finish()
        guard let seen, let found else { return .noContent }
        let mark = try store.accept(
            StoreWord(seen: seen, found: found), by: Signature(by: caller.actor, at: now()))
        versionCache.refresh()
        tokenCache.forget()
        control.storeWasAccepted()
        return .json { $0.object(mark, StoreMark.acceptedShape) }
    }

    private static func mark(_ fields: inout BodyFields, _ name: String) -> StoreMark? {
        let value = fields.take(name)
        if let value, let identity = value[.identity]?.string, let decision = value[.decision]?.integer,
            let sign = value[.sign]?.string, let recorded = value[.recorded]?.integer
        {
            return StoreMark(identity: identity, decision: decision, sign: sign, recorded: recorded)
        }
        fields.refuse(
            name,
            "an object as GET /v1/store shows it is needed, with identity, decision, sign and recorded; got \((value ?? .null).sight)"
        )
        return nil
    }
}

/// A store's status as `GET /v1/store` and `store status --json` show it.
package enum StoreDocument {
    /// - Parameters:
    ///   - mark: the store's present mark; nil: not asked for.
    ///   - seen: the mark that was seen before, where the store went back.
    package static func json(of status: StoreStatus, mark: StoreMark? = nil, seen: StoreMark? = nil) -> [UInt8] {
        var writer = JSONWriter()
        writer.object((status: status, mark: mark, seen: seen), Self.shape)
        return writer.bytes
    }

    static let shape = Shape<(status: StoreStatus, mark: StoreMark?, seen: StoreMark?)>(
        "Store", "The store's place, size and steps.",
        [
            .member(.path, .text) { $0.status.path },
            .member(.size, .count, "Bytes, the log beside the file included.") { $0.status.size },
            .member(.schemaVersion, .count, "The version of the data.") { Int64($0.status.schemaVersion) },
            .member(.newestSchemaVersion, .count, "The newest version that this release knows.") {
                Int64($0.status.newestSchemaVersion)
            },
            .list(.chain, of: StoreStep.shape, "Every step that this release knows.") { $0.status.chain },
            .nullableObject(.firstInstalled, StoreRelease.shape) { $0.status.firstInstalled },
            .nullableObject(.current, StoreRelease.shape) { $0.status.current },
            .nullableObject(.mark, StoreMark.shape, "The store's mark; null: no daemon was asked.") { $0.mark },
            .nullableObject(
                .wentBack, StoreWord.shape,
                "If the store went back in time: the values that POST /v1/store/accept takes; null: all is well."
            ) { store in
                store.seen.flatMap { seen in store.mark.map { StoreWord(seen: seen, found: $0) } }
            },
        ])
}

extension StoreMark {
    static let shape = Shape<StoreMark>(
        "StoreMark", "A store's identity and progress. For one store it only rises.",
        [
            .member(
                .identity, .text.matching("^[0-9a-f]{32}$"),
                "Random, made with the store; a new one since a person accepted it though it had gone back."
            ) { $0.identity },
            .member(
                .decision, .integer.within(0...Int64.max),
                "Rises by one, at least, with each transaction that changes requirements, campaigns' states, tokens, alerts, or erased and removed users and devices."
            ) { $0.decision },
            .member(
                .sign, .text.matching("^[0-9a-f]{16}$"),
                "Random, of the last decision: two stores that went apart differ in it."
            ) { $0.sign },
            .member(
                .recorded, .integer.within(0...Int64.max), "The number of times that outcomes of pushes were recorded."
            ) { $0.recorded },
        ])

    /// The answer to the acceptance of a store.
    package static let acceptedShape = Shape<StoreMark>([
        .object(.mark, shape) { $0 },
        .sentence { _ in ActWords(.acceptStore, "the store").answer() },
    ])
}

extension StoreWord {
    static let shape = Shape<StoreWord>(
        "StoreWord", "The mark that a relay saw in its store, and the one it holds.",
        [
            .object(.seenMark, StoreMark.shape) { $0.seen },
            .object(.foundMark, StoreMark.shape) { $0.found },
        ])
}

extension StoreStep {
    static let shape = Shape<StoreStep>(
        "StoreStep", "One step of the store's growth.",
        [
            .member(.version, .count) { $0.version },
            .member(.name, .text) { $0.name },
            .nullable(.appliedAt, .instant, "Null: not yet.") { $0.appliedAt },
        ])
}

extension StoreRelease {
    static let shape = Shape<StoreRelease>(
        "StoreRelease", "A release that has worked on the store.",
        [
            .member(.release, .text, "As --version prints it; \"unknown\" if older than this record.") { $0.release },
            .member(.schemaVersion, .count, "The version that it brought the store to.") { $0.schemaVersion },
            .member(.openedAt, .instant, "The time when it first opened the store, after another release.") {
                $0.openedAt
            },
        ])
}
