// SPDX-License-Identifier: Apache-2.0

/// One thing that is wrong with the configuration: where, what it held, what would be right.
struct ConfigurationFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path of the field: `apps["com.example.app"].ios.push.priority`; empty for the whole file.
    var field: String
    var problem: String

    init(_ field: String, _ problem: String) {
        self.field = field
        self.problem = problem
    }

    var description: String {
        field.isEmpty ? problem : "\(field): \(problem)"
    }
}

/// The configuration is invalid, for all of these reasons at once: exit code 78.
struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// The file that was read.
    var path: String
    var faults: [ConfigurationFault]

    var description: String {
        let head = faults.count == 1 ? "1 fault" : "\(faults.count) faults"
        return "error: the configuration \(path) is invalid: \(head)\n"
            + faults.map { "  \($0)" }.joined(separator: "\n")
    }
}
