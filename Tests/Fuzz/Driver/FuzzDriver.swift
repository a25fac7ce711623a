// SPDX-License-Identifier: Apache-2.0
import CFuzzer
import Glibc

/// `fuzz TARGET [libFuzzer's own arguments]`: hands libFuzzer's inputs to one target.
///
/// The build is instrumented with `-sanitize=fuzzer`, which would bring libFuzzer's own `main`; SwiftPM has given the name
/// to ours, so this calls libFuzzer as a library.
@main
enum FuzzDriver {
    /// Set before the first input, read by the callback, all on the main thread.
    nonisolated(unsafe) private static var check: (@Sendable ([UInt8]) throws -> Void)?

    static func main() {
        guard CommandLine.argc > 1, let name = CommandLine.arguments.dropFirst().first,
            let target = FuzzTarget.all.first(where: { $0.name == name })
        else {
            print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
            exit(CommandLine.argc > 1 ? 2 : 0)
        }
        unsafe check = target.check
        // `ulimit -S -t` ends a run by its own CPU time: setrlimit(2) sends SIGXCPU at the soft limit, and libFuzzer takes
        // SIGUSR1 as the wish to stop with its figures printed.
        signal(SIGXCPU) { _ in raise(SIGUSR1) }
        // libFuzzer starts itself again by its first argument (-merge=1), so the target's name goes there through the
        // environment of nobody: it stays the first argument that is no flag, which libFuzzer would take for a corpus.
        var arguments = unsafe CommandLine.unsafeArgv
        unsafe arguments[1] = arguments[0]
        unsafe arguments += 1
        var count = CommandLine.argc - 1
        let status = unsafe withUnsafeMutablePointer(to: &count) { count in
            unsafe withUnsafeMutablePointer(to: &arguments) { arguments in
                unsafe LLVMFuzzerRunDriver(
                    count,
                    UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>(OpaquePointer(arguments))
                ) { data, size in
                    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: data, count: size))
                    do {
                        try unsafe FuzzDriver.check?(bytes)
                    } catch {
                        fatalError("\(error)")
                    }
                    return 0
                }
            }
        }
        exit(status)
    }
}
