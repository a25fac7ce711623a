// SPDX-License-Identifier: Apache-2.0
import CPage
import HTTPServer
import Synchronization
import Threading
import UpgradeRules

/// The files that a browser loads beside the page: a style sheet, a script, an icon. They are built into the program; their
/// paths contain a hash of their content.
package struct PageAssets: Sendable {
    struct File: Sendable {
        let name: String
        let content: PreparedContent
        let bytes: [UInt8]

        var path: PagePath { PagePath("page", "assets", name) }

        init(_ stem: String, _ ending: String, _ bytes: [UInt8], type: String) {
            self.bytes = bytes
            name = "\(stem)-\(String(FNV1a.hash(bytes), radix: 16)).\(ending)"
            content = PreparedContent(bytes, compressed: Gzip.compressed(bytes), type: type, isImmutable: true)
        }
    }

    let style: File
    let script: File
    let icon: File

    private static let embedded = PageAssets(
        style: [UInt8](UnsafeRawBufferPointer(start: relay_page_style(), count: relay_page_style_size())),
        script: [UInt8](UnsafeRawBufferPointer(start: relay_page_script(), count: relay_page_script_size())),
        icon: [UInt8](UnsafeRawBufferPointer(start: relay_page_icon(), count: relay_page_icon_size())))

    private static let folder = Mutex<String?>(nil)

    /// Reads the files from a folder at each request from now on, for people who edit them.
    package static func serve(from path: String) { folder.withLock { $0 = path } }

    /// The files of the folder; the built-in ones where one of those cannot be read.
    static var current: PageAssets {
        guard let path = folder.withLock({ $0 }), let style = try? WholeFile.read("\(path)/page.css", limit: 1 << 20),
            let script = try? WholeFile.read("\(path)/page.js", limit: 1 << 20),
            let icon = try? WholeFile.read("\(path)/icon.svg", limit: 1 << 20)
        else { return embedded }
        return PageAssets(style: style, script: script, icon: icon)
    }

    private init(style: [UInt8], script: [UInt8], icon: [UInt8]) {
        self.style = File("page", "css", style, type: "text/css; charset=utf-8")
        self.script = File("page", "js", script, type: "text/javascript; charset=utf-8")
        self.icon = File("icon", "svg", icon, type: "image/svg+xml")
    }

    func response(to head: RequestHead, for name: String) -> Response? {
        guard let file = [style, script, icon].first(where: { $0.name == name }) else { return nil }
        var response = file.content.response(to: head, isShared: true)
        response.headers.append(("X-Content-Type-Options", "nosniff"))
        return response
    }
}
