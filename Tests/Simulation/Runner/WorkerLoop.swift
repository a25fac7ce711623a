// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What a worker's process does: it reads orders from its standard input, a line each, and writes a verdict for each.
package enum WorkerLoop {
    /// The exit code of a worker that cannot do its work. It has written why to its standard error.
    package static let refused: Int32 = 2

    /// Returns when there are no more orders.
    package static func run(_ histories: some Histories) throws {
        let (decoder, encoder) = (JSONDecoder(), JSONEncoder())
        while let line = readLine() {
            let verdict = try histories.carryOut(try decoder.decode(Order.self, from: Data(line.utf8)))
            var bytes = try encoder.encode(verdict)
            bytes.append(UInt8(ascii: "\n"))
            // Who asked may be gone.
            guard (try? FileHandle.standardOutput.write(contentsOf: bytes)) != nil else { return }
        }
    }
}
