// SPDX-License-Identifier: Apache-2.0

extension PageLanguage {
    /// The texts about people whom a proxy signs in.
    static let chineseSignInTexts: [String: String] = [
        "An operator gives a group its rights in the configuration:": "运维人员可在配置中为组授予权限：",
        "It sent these groups, and none has a right here:": "代理发送了以下组，但均无此处的权限：",
        "The proxy before this relay has signed no one in: it sent no name in the header %.":
            "本中继前的代理没有登录任何人：请求头 % 中没有名称。",
        "The proxy signed you in as": "代理将您登录为",
        "The proxy signs this person in again with the next look: sign the person out there.":
            "下次访问时代理会再次登录此人：请在代理处将其退出。",
        "The proxy signs you in as “%”, and that name counts here. For an API token or a link, open the relay's own address.":
            "代理已将您登录为“%”，此处以该名称为准。如需使用 API 令牌或链接，请直接打开中继的地址。",
        "This needs the scope “%”, which none of your groups gives: %.": "此操作需要权限“%”，您的组均未授予：%。",
        "You have no right here": "您在此处没有权限",
        "none": "无",
        "signed in by the proxy: sign out there": "由代理登录：请在代理处退出",
    ]
}
