// SPDX-License-Identifier: Apache-2.0

extension Version {
    /// Version 0, which no other is older than: for an app that cannot read its own.
    public static let zero = Version(text: "0", segments: [0])

    private init(text: String, segments: [UInt64]) {
        self.text = text
        self.segments = segments
    }
}
