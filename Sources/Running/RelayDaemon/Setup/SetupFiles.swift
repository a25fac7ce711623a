// SPDX-License-Identifier: Apache-2.0
import Configuration
import Glibc
import Terminal
import Threading

/// The files that `init` writes, with the permissions that they need. A file that was there before is kept beside it.
struct SetupFiles {
    let configuration: FirstConfiguration
    /// Whether existing files are replaced.
    let replaces: Bool

    static var currentDirectory: String? {
        guard let path = unsafe getcwd(nil, 0) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// - Throws: where something is in the way; then nothing has been written.
    func check(key: [UInt8]) throws(CommandFailure) {
        for directory in [configuration.directory, configuration.secretsDirectory] { try checkOwner(of: directory) }
        guard !replaces else { return }
        let path = configuration.path
        if FileProbe.exists(path), !isSample(path) { throw inTheWay(path) }
        let place = keyPath
        if FileProbe.exists(place), (try? WholeFile.read(place, limit: 1 << 20)) != key { throw inTheWay(place) }
    }

    /// - Parameters:
    ///   - key: the push service's key.
    ///   - secret: the secret for webhooks, written unless there is one.
    func write(key: [UInt8], secret: [UInt8]) throws(CommandFailure) {
        // The service's user, which systemd creates, must be able to read the configuration, but not the secrets.
        try make(configuration.directory, mode: 0o755)
        try make(configuration.secretsDirectory, mode: 0o700)
        try put(key, at: keyPath, mode: 0o600)
        let place = secretPath
        if !FileProbe.exists(place) { try put(secret, at: place, mode: 0o600) }
        try put(Array(configuration.text.utf8), at: configuration.path, mode: 0o644)
        if needsUnit { try put(Array(unit.utf8), at: Self.unitPath, mode: 0o644) }
    }

    var keyPath: String { "\(configuration.secretsDirectory)/\(configuration.service.keyName)" }
    var secretPath: String { "\(configuration.secretsDirectory)/\(FirstConfiguration.webhookSecretName)" }

    // MARK: systemd

    static let unitPath = "/etc/systemd/system/upgrade-relay.service.d/init.conf"

    /// Whether a drop-in for the unit is needed: the installed unit passes one provider's key to the service.
    var needsUnit: Bool { configuration.isOfService && !configuration.service.isOfUnit }

    private var unit: String {
        """
        # Made by "upgrade-relay init": the secrets of this configuration, and no others (systemd.exec(5), LoadCredential=).
        [Service]
        LoadCredential=
        LoadCredential=\(configuration.service.keyName):\(keyPath)
        LoadCredential=\(FirstConfiguration.webhookSecretName):\(secretPath)

        """
    }

    // MARK: Existing files

    /// Whether the file is the package's unchanged sample, which may be overwritten.
    private func isSample(_ path: String) -> Bool {
        guard let own = unsafe realpath("/proc/self/exe", nil) else { return false }
        defer { unsafe free(own) }
        // /usr/bin/upgrade-relay, or /usr/local/bin/…
        let prefix = FileProbe.directory(of: FileProbe.directory(of: unsafe String(cString: own)))
        guard let sample = try? WholeFile.read("\(prefix)/share/upgrade-relay/config.json5", limit: 1 << 20) else {
            return false
        }
        return (try? WholeFile.read(path, limit: 1 << 20)) == sample
    }

    private func inTheWay(_ path: String) -> CommandFailure {
        CommandFailure(
            .failed, "\(path) is there already, and nothing was written",
            hint:
                "--force keeps it as \(Self.keptName(of: path)) and writes a new one; --directory writes somewhere else"
        )
    }

    private func make(_ directory: String, mode: mode_t) throws(CommandFailure) {
        try OwnDirectory.make(for: "\(directory)/any", mode: mode)
    }

    /// Refuses a directory that other users may write to: they could replace a key there, or read one that is put there later.
    private func checkOwner(of directory: String) throws(CommandFailure) {
        var status = stat()
        guard unsafe stat(directory, &status) == 0 else { return }
        let isOurs = status.st_uid == geteuid() || status.st_uid == 0
        guard !isOurs || status.st_mode & 0o022 != 0 else { return }
        throw CommandFailure(
            .failed,
            "\(directory) may be written to by others (\(isOurs ? "mode \(String(status.st_mode & 0o7777, radix: 8))" : "it is another user's")), "
                + "and secrets would lie there; nothing was written",
            hint: "chmod go-w \(directory), or choose another folder by --directory")
    }

    /// The first free name of `FILE.old`, `FILE.old.2`, …: Apple gives a key out once, so that none may be overwritten.
    private static func keptName(of path: String) -> String {
        let first = "\(path).old"
        guard FileProbe.exists(first) else { return first }
        return (2...).lazy.map { "\(first).\($0)" }.first { !FileProbe.exists($0) } ?? first
    }

    /// Writes the file unless its content is already right; sets its mode in any case.
    private func put(_ bytes: [UInt8], at path: String, mode: UInt32) throws(CommandFailure) {
        if path == Self.unitPath { try make(FileProbe.directory(of: path), mode: 0o755) }
        if (try? WholeFile.read(path, limit: 1 << 20)) != bytes {
            if FileProbe.exists(path), !isSample(path) {
                let kept = Self.keptName(of: path)
                guard unsafe rename(path, kept) == 0 else { throw PrivateFile.failure(kept) }
            }
            try PrivateFile.write(bytes, to: path, mode: mode)
        }
        guard unsafe chmod(path, mode) == 0 else { throw PrivateFile.failure(path) }
    }
}
