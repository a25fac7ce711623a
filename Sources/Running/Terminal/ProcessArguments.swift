// SPDX-License-Identifier: Apache-2.0
import Threading

/// The words that the process was started with, its own name left out.
package enum ProcessArguments {
    /// Linux allows a quarter of the stack's limit (execve(2)), 2 MiB as a rule.
    private static let largest = 1 << 30

    /// - Parameter known: as the runtime has found them. The runtime searches memory before `environ`, which a preloaded library
    ///   (LD_PRELOAD) moves with its first setenv(3): then it finds none, not even the program's name. The kernel still
    ///   has them: "/proc/[pid]/cmdline: the complete command line, as a set of strings separated by null bytes" (proc(5)).
    package static func words(_ known: [String] = CommandLine.arguments) -> [String] {
        guard known.isEmpty else { return Array(known.dropFirst()) }
        return words(ofCommandLine: (try? WholeFile.read("/proc/self/cmdline", limit: largest)) ?? [])
    }

    /// Each word ends with a null byte; a word may be empty.
    static func words(ofCommandLine bytes: [UInt8]) -> [String] {
        bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().dropFirst()
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
