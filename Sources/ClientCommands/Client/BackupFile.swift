// SPDX-License-Identifier: Apache-2.0
import Configuration
import Glibc
import RelayStore
import StoreDrivers
import Terminal

/// A file that is there whole or not at all: written under another name in the same directory, and renamed when all of it is
/// on the disk. For its owner alone from the first byte: a backup holds what the store holds.
final class BackupFile {
    let path: String
    /// Where it is until it is whole.
    let partial: String
    let replaces: Bool
    private var descriptor: Int32 = -1

    /// Looks before any work is done; makes nothing yet.
    ///
    /// - Parameter replaces: whether a file that is there may be replaced.
    init(_ path: String, replaces: Bool) throws(CommandFailure) {
        self.path = path
        self.replaces = replaces
        partial = "\(path).partial-\(getpid())"
        var information = stat()
        if unsafe stat(path, &information) == 0 {
            guard information.st_mode & S_IFMT == S_IFREG else {
                throw CommandFailure(.failed, "\(path) is not a file", hint: "name the file that is to be made")
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

    /// Makes a file beside it and takes it away: a directory that is missing, closed or read-only is known before the copy is
    /// made and sent, and not behind it.
    private func tryOut() throws(CommandFailure) {
        let descriptor = unsafe open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PrivateFile.failure(path) }
        close(descriptor)
        _ = unsafe unlink(partial)
    }

    /// Whether there is room for so many bytes; asked before they travel.
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

    /// Puts what was appended on the disk and gives it its name.
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

    /// Renames and puts the directory on the disk, without which the name may be lost in a power cut (fsync(2)).
    static func publish(_ partial: String, as path: String, replaces: Bool) throws(CommandFailure) {
        // A file that came meanwhile must not be lost either: link(2) never replaces.
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
