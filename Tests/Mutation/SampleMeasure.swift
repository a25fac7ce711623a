// SPDX-License-Identifier: Apache-2.0
import Foundation

/// `make mutate`.
package struct SampleMeasure {
    package init(_ arguments: MutantArguments) {}
    package func run() throws -> Bool { false }
}
