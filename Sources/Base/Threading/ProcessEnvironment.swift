// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The variables that the process was given. They do not change once there are threads.
package enum ProcessEnvironment {
    package static var all: [String: String] {
        var variables: [String: String] = [:]
        var next = unsafe relay_environment()
        while let entry = unsafe next.pointee {
            let text = unsafe String(cString: entry)
            if let mark = text.utf8.firstIndex(of: UInt8(ascii: "=")) {
                variables[String(text[..<mark])] = String(text[text.utf8.index(after: mark)...])
            }
            unsafe next += 1
        }
        return variables
    }

    package static func value(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}
