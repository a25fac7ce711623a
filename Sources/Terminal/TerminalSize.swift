// SPDX-License-Identifier: Apache-2.0
import Foundation

/// How wide the terminal is.
package enum TerminalSize {
    /// Asks the terminal, then `COLUMNS`; 80 where neither answers.
    package static func columns(of descriptor: CInt) -> Int {
        var size = winsize()
        if unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        if let text = ProcessInfo.processInfo.environment["COLUMNS"], let columns = Int(text), columns > 0 {
            return columns
        }
        return 80
    }
}
