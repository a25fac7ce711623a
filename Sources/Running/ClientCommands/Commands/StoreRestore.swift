// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Terminal
import WireFormat

extension CommandEntry {
    static let storeRestore = client("store restore") { run in
        let file = try run.arguments.require("FILE")
        let store = try run.store()
        do {
            var restored: RestoredStore?
            _ = try run.copying { restored = try store.restore(from: file, progress: $0) }
            guard let restored else { return .failed }
            let kept = restored.kept
            run.show(
                [
                    "store": .string(restored.place), "size": .integer(restored.size),
                    "kept": kept.map { .string($0) } ?? .null,
                ],
                "\(DisplayWidth.sanitised(restored.place)): \(Quantity.bytes(restored.size)), from \(DisplayWidth.sanitised(file))\n"
                    + (kept.map { "the store as it was: \(DisplayWidth.sanitised($0))\n" } ?? ""))
            return .done
        } catch let error as StoreError {
            let isOpen = error.code == .busy
            throw CommandFailure(
                .failed, error.context,
                hint: isOpen
                    ? "stop it first: systemctl stop upgrade-relay.socket upgrade-relay-control.socket upgrade-relay"
                    : error.hint)
        }
    }
}
