// SPDX-License-Identifier: Apache-2.0

extension VersionBump {
    /// Whether what it leaves out of its texts means the configuration's. A bump that names no requirement only mends what it brings: a
    /// build tool that announces the same version each night does not take a message away.
    package var isComplete: Bool { required != nil }
}
