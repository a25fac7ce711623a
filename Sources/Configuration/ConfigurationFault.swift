// SPDX-License-Identifier: Apache-2.0
package import Terminal

/// One thing that is wrong with the configuration: where, what it held, what would be right.
package struct ConfigurationFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path of the field: `apps["com.example.app"].ios.push.priority`; empty for the whole file.
    package var field: String
    package var problem: String

    package init(_ field: String, _ problem: String) {
        self.field = field
        self.problem = problem
    }

    package var description: String {
        field.isEmpty ? problem : "\(field): \(problem)"
    }
}

/// The configuration is invalid, for all of these reasons at once: exit code 78.
package struct ConfigurationError: Failure, CustomStringConvertible {
    /// The file that was read.
    package var path: String
    package var faults: [ConfigurationFault]

    package init(path: String, faults: [ConfigurationFault]) {
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
