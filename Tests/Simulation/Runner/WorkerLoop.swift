// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The work of a worker process: it reads orders from its standard input, one per line, and writes a verdict for each.
package enum WorkerLoop {
    /// The exit code of a worker that cannot do its work. The worker has written the reason to its standard error.
    package static let refused: Int32 = 2

    /// Returns when there are no more orders.
    package static func run(_ histories: some Histories) throws {
        let (decoder, encoder) = (JSONDecoder(), JSONEncoder())
        while let line = readLine() {
            let verdict = try histories.carryOut(try decoder.decode(Order.self, from: Data(line.utf8)))
            var bytes = try encoder.encode(verdict)
            bytes.append(UInt8(ascii: "\n"))
            // The reading process may be gone.
            guard (try? FileHandle.standardOutput.write(contentsOf: bytes)) != nil else { return }
        }
    }
}
