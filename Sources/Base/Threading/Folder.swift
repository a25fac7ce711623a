// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Folders as a whole, by the system's own calls.
package enum Folder {
    /// The names of its entries, in no order.
    package static func names(_ path: String) throws(SystemError) -> [String] {
        guard let folder = unsafe opendir(path) else { throw SystemError(path, errno: errno) }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            // In place: a copy of the whole entry would read beyond what the system has written.
            guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { continue }
            let start = unsafe UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
            let name = unsafe String(cString: start)
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    /// Removes the folder with all its entries, as far as possible. Links are removed, not followed.
    package static func remove(_ path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            _ = unsafe unlink(path)
            return
        }
        for name in (try? names(path)) ?? [] { remove("\(path)/\(name)") }
        _ = unsafe rmdir(path)
    }
}
