// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPServer
import Testing

@testable import StatusPage

@Suite("What a browser loads")
struct AssetTests {
    @Test("it is small, named by its content, and compressed once")
    func sizes() throws {
        let assets = PageAssets.current
        let files = [assets.style, assets.script, assets.icon]
        #expect(files.map(\.bytes.count).reduce(0, +) < 40_000, "with the page itself below 60 kB")
        #expect(assets.style.bytes.count < 16_384 && assets.script.bytes.count < 8192)
        let lines = String(decoding: assets.script.bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 150)
        for file in files {
            var head = RequestHead(method: "GET", target: file.path.text)
            let plain = try #require(assets.response(to: head, for: file.name))
            #expect(plain.cacheControl.contains("immutable"))
            #expect(plain.headers.contains { $0.name == "X-Content-Type-Options" && $0.value == "nosniff" })
            head.target = "/page/assets/old"
            #expect(assets.response(to: head, for: "old") == nil)
        }
    }

    @Test("nothing in them loads anything, or makes code of text")
    func harmless() {
        let script = String(decoding: PageAssets.current.script.bytes, as: UTF8.self)
        for word in [
            "eval(", "new Function", "document.write", "outerHTML", "insertAdjacentHTML", "http://", "https://",
            "localStorage",
        ] {
            #expect(!script.contains(word), "\(word)")
        }
        let style = String(decoding: PageAssets.current.style.bytes, as: UTF8.self)
        for word in ["url(", "@import", "@font-face"] { #expect(!style.contains(word), "\(word)") }
    }

    @Test("the policy lets in what is the server's own, and nothing inline")
    func policy() {
        let policy = PageHeaders.policy
        for part in [
            "default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'",
            "require-trusted-types-for 'script'",
        ] {
            #expect(policy.contains(part))
        }
        #expect(!policy.contains("unsafe") && !policy.contains("*"))
    }
}
