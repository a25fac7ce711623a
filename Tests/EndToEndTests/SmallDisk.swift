// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A file system of its own: a tmpfs of a few megabytes, which only root may mount.
final class SmallDisk {
    let folder: URL

    /// nil where mounting is not permitted: a container may forbid it even to root.
    init?(in bench: Workbench, megabytes: Int) throws {
        folder = bench.folder.appending(path: "disk")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let mounted = try Self.run("/bin/mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", folder.path)
        guard mounted.status == 0 else {
            print("NOT TESTED HERE: \(mounted.errors)")
            return nil
        }
    }

    deinit {
        _ = try? Self.run("/bin/umount", "-l", folder.path)
    }

    var free: Int {
        get throws {
            let figures = try FileManager.default.attributesOfFileSystem(forPath: folder.path)
            guard let free = figures[.systemFreeSize] as? Int else { throw Unexpected("no figures of \(folder.path)") }
            return free
        }
    }

    private var ballast: URL { folder.appending(path: "ballast") }

    /// Leaves no more than `bytes` free.
    func fill(leaving bytes: Int) throws {
        try Data(count: max(0, free - bytes)).write(to: ballast)
    }

    /// Leaves no space, also while other programs write.
    func fill() throws {
        try Data().write(to: ballast)
        let file = try FileHandle(forWritingTo: ballast)
        defer { try? file.close() }
        for size in [65_536, 4_096] {
            let block = Data(count: size)
            while (try? file.write(contentsOf: block)) != nil {}
        }
    }

    func empty() throws {
        try FileManager.default.removeItem(at: ballast)
    }

    func remount(_ option: String) throws {
        let result = try Self.run("/bin/mount", "-o", "remount,\(option)", folder.path)
        guard result.status == 0 else { throw Unexpected(result.errors) }
    }

    private static func run(_ program: String, _ arguments: String...) throws -> CommandResult {
        try CommandResult.of(arguments, program: URL(filePath: program))
    }
}
