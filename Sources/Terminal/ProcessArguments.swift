// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The words that the process was started with, its own name left out.
package enum ProcessArguments {
    /// - Parameter known: as the runtime has found them. It looks for them before `environ`, which a library that is loaded first
    ///   (LD_PRELOAD) moves with the first setenv(3) of its own: then it finds none, not even the name. The kernel still knows
    ///   them: "/proc/[pid]/cmdline: the complete command line, as a set of strings separated by null bytes" (proc(5)).
    package static func words(_ known: [String] = CommandLine.arguments) -> [String] {
        guard known.isEmpty else { return Array(known.dropFirst()) }
        let file = FileHandle(forReadingAtPath: "/proc/self/cmdline")
        let bytes = (try? file?.readToEnd()) ?? nil
        return words(ofCommandLine: Array(bytes ?? Data()))
    }

    /// Each ends with a null byte; one may be empty.
    static func words(ofCommandLine bytes: [UInt8]) -> [String] {
        bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().dropFirst()
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
