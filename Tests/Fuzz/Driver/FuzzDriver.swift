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

    /// libFuzzer starts itself again to merge, with its own arguments only: the target's name goes with it in this variable.
    private static let variable = "UPGRADE_RELAY_FUZZ_TARGET"

    static func main() {
        let inherited = unsafe getenv(variable).map { unsafe String(cString: $0) }
        guard let name = inherited ?? CommandLine.arguments.dropFirst().first,
            let target = FuzzTarget.all.first(where: { $0.name == name })
        else {
            print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
            exit(CommandLine.argc > 1 ? 2 : 0)
        }
        unsafe check = target.check
        // `ulimit -S -t` ends a run by its own CPU time: setrlimit(2) sends SIGXCPU at the soft limit, and libFuzzer takes
        // SIGUSR1 as the request to stop with its figures printed.
        signal(SIGXCPU) { _ in raise(SIGUSR1) }
        var arguments = unsafe CommandLine.unsafeArgv
        var count = CommandLine.argc
        if inherited == nil {
            unsafe setenv(variable, name, 1)
            unsafe arguments[1] = arguments[0]
            unsafe arguments += 1
            count -= 1
        }
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
