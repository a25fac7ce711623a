// SPDX-License-Identifier: Apache-2.0
import Configuration
import Glibc
import RelayStore
import StoreDrivers
import Terminal

/// A file that appears whole or not at all: it is written under another name in the same directory, and renamed once all of
/// it is on the disk. Only its owner may read it, from the first byte, because a backup holds all of the store's data.
final class BackupFile {
    let path: String
    /// The path until the file is whole.
    let partial: String
    let replaces: Bool
    private var descriptor: Int32 = -1

    /// Checks the path before any work is done; leaves no file yet.
    ///
    /// - Parameter replaces: whether an existing file may be replaced.
    init(_ path: String, replaces: Bool) throws(CommandFailure) {
        self.path = path
        self.replaces = replaces
        partial = "\(path).partial-\(getpid())"
        var information = stat()
        if unsafe stat(path, &information) == 0 {
            guard information.st_mode & S_IFMT == S_IFREG else {
                throw CommandFailure(.failed, "\(path) is not a file", hint: "name the file to write")
            }
            guard replaces else { throw Self.exists(path) }
            guard !StoreDriver.closed(path).isInUse else {
                throw CommandFailure(
                    .failed, "\(path) is a store that a daemon works on, or has worked on; nothing was written",
                    hint: "name another file; \"upgrade-relay store restore\" puts a backup into a store's place")
            }
        }
        try tryOut()
    }

    /// Creates and removes a file beside it, so that a directory that is missing, closed or read-only is reported before the
    /// copy is made and sent.
    private func tryOut() throws(CommandFailure) {
        let descriptor = unsafe open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PrivateFile.failure(path) }
        close(descriptor)
        _ = unsafe unlink(partial)
    }

    /// Throws where the file system has no room for `size` bytes; called before they are sent.
    func makeRoom(for size: Int64) throws(CommandFailure) {
        var information = statvfs()
        guard unsafe statvfs(FileProbe.directory(of: path), &information) == 0 else { return }
        let free = Int64(clamping: UInt64(information.f_bavail) &* UInt64(information.f_frsize))
        guard free < size else { return }
        throw CommandFailure(
            .failed,
            "\(path) cannot be written: it will have \(Quantity.bytes(size)), and \(Quantity.bytes(free)) are free",
            hint: "name a place with more room")
    }

    deinit {
        if descriptor >= 0 {
            close(descriptor)
            _ = unsafe unlink(partial)
        }
    }

    func create() throws(CommandFailure) {
        descriptor = unsafe open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PrivateFile.failure(partial) }
    }

    func append(_ bytes: [UInt8]) throws(CommandFailure) {
        try PrivateFile.append(bytes, to: descriptor, of: partial)
    }

    /// Syncs the appended bytes to the disk and gives the file its name.
    func finish() throws(CommandFailure) {
        guard fsync(descriptor) == 0 else { throw PrivateFile.failure(partial) }
        close(descriptor)
        descriptor = -1
        do {
            try Self.publish(partial, as: path, replaces: replaces)
        } catch {
            _ = unsafe unlink(partial)
            throw error
        }
    }

    /// Renames the file and syncs its directory: without the sync, a power cut may lose the name (fsync(2)).
    static func publish(_ partial: String, as path: String, replaces: Bool) throws(CommandFailure) {
        // link(2) never replaces a file: one that has appeared since the check is kept.
        if replaces {
            guard unsafe rename(partial, path) == 0 else { throw PrivateFile.failure(path) }
        } else {
            guard unsafe link(partial, path) == 0 else {
                throw errno == EEXIST ? exists(path) : PrivateFile.failure(path)
            }
            _ = unsafe unlink(partial)
        }
        let directory = unsafe open(FileProbe.directory(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if directory >= 0 {
            fsync(directory)
            close(directory)
        }
    }

    private static func exists(_ path: String) -> CommandFailure {
        CommandFailure(.failed, "\(path) is there already", hint: "--force replaces it")
    }
}
