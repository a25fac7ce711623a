// SPDX-License-Identifier: Apache-2.0
import RelayStore

extension API {
    /// The process is alive and answers.
    func health() -> Response {
        .json { $0.object { $0.member("status", "ok") } }
    }

    /// Whether the daemon can do its work: 503 with everything that keeps it from it.
    func readiness() -> Response {
        var faults = control.faults()
        if !faults.contains(where: { $0.part == "store" }) {
            do {
                try store.checkWritable()
            } catch {
                let reason = (error as? StoreError).map { Problem.of($0).detail } ?? "the store cannot be written to"
                faults.append(ReadinessFault(part: "store", reason: reason))
            }
        }
        return .json(faults.isEmpty ? 200 : 503) { writer in
            writer.object { writer in
                writer.member("status", faults.isEmpty ? "ready" : "notReady")
                writer.name("faults")
                writer.array(faults) { writer, fault in
                    writer.object { writer in
                        writer.member("part", fault.part)
                        writer.member("reason", fault.reason)
                    }
                }
            }
        }
    }
}
