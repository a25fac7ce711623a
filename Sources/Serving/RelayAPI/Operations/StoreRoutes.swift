// SPDX-License-Identifier: Apache-2.0
import HTTPServer
package import RelayStore
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
        return .json { $0.object { $0.mark(.mark, mark) } }
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
        writer.object { writer in
            writer.member(.path, status.path)
            writer.member(.size, status.size)
            writer.member(.schemaVersion, Int64(status.schemaVersion))
            writer.member(.newestSchemaVersion, Int64(status.newestSchemaVersion))
            writer.array(.chain, status.chain) { writer, step in
                writer.object([.version: step.version, .name: step.name, .appliedAt: step.appliedAt])
            }
            writer.release(.firstInstalled, status.firstInstalled)
            writer.release(.current, status.current)
            writer.mark(.mark, mark)
            writer.member(.wentBack, seen) { writer, seen in
                writer.object { writer in
                    writer.mark(.seenMark, seen)
                    writer.mark(.foundMark, mark)
                }
            }
        }
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func mark(_ field: Field, _ mark: StoreMark?) {
        member(field, mark) { writer, mark in
            writer.object([
                .identity: mark.identity, .decision: mark.decision, .sign: mark.sign, .recorded: mark.recorded,
            ])
        }
    }

    fileprivate mutating func release(_ field: Field, _ release: StoreRelease?) {
        name(field)
        guard let release else { return null() }
        object([.release: release.release, .schemaVersion: release.schemaVersion, .openedAt: release.openedAt])
    }
}
