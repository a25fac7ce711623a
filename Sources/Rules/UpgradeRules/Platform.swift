// SPDX-License-Identifier: Apache-2.0

/// The platforms that a version requirement is kept for, by their names on the wire.
public enum Platform: String, Sendable, Hashable, CaseIterable, Codable {
    case ios
    case android
}
