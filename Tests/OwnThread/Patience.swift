// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How slow the machine may be: under a sanitizer everything takes many times as long.
package enum Patience {
    /// Deadlines are multiplied by it. TEST_PATIENCE, 1 where that is not set.
    package static let factor = getenv("TEST_PATIENCE").flatMap { Int(String(cString: $0)) } ?? 1

    /// Whether a test may expect something of the machine's speed.
    package static var isShort: Bool { factor == 1 }
}
