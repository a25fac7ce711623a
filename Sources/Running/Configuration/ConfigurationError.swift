// SPDX-License-Identifier: Apache-2.0
package import Terminal
package import WireFormat

/// The configuration is invalid, for all of these reasons at once: exit code 78.
package struct ConfigurationError: Failure, CustomStringConvertible {
    /// The file that was read.
    package var path: String
    package var faults: [FieldFault]

    package init(path: String, faults: [FieldFault]) {
        self.path = path
        self.faults = faults
    }

    package var code: ExitCode { .configuration }
    package var report: String { description }
    package var detail: String { String(description.dropFirst("error: ".count)) }

    package var description: String {
        let head = faults.count == 1 ? "1 error" : "\(faults.count) errors"
        return "error: the configuration \(path) is invalid: \(head)\n"
            + faults.map { "  \($0)" }.joined(separator: "\n")
    }
}
