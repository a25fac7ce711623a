// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The documents of the tree.
enum Guide {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The blocks of commands in it, also those of a list.
    static func blocks(in text: some StringProtocol) -> [String] {
        String(text).matches(of: /(?m)^ *```sh\n(?<text>[\s\S]*?)```/).map { String($0.text) }
    }
}
