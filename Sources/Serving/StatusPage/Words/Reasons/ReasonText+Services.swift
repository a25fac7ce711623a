// SPDX-License-Identifier: Apache-2.0

extension ReasonText {
    /// Push services in trouble.
    static let services = [
        "the push service's sandbox": "推送服务的沙盒环境",
        "the push service": "推送服务",
        "cannot reach %: %; it is dialled again by itself, after 75 s at the most": "无法连接%：%；最迟 75 秒后自动重新连接",
        "the push service answers % to nearly every push: sending waits and goes on by itself; the next try is at %":
            "推送服务对几乎所有推送都应答 %：发送暂停并将自动继续；下一次尝试在 %",
        "%: % wants a pause from this key; sending goes on by itself at %": "%：% 要求此密钥暂停；发送将于 % 自动继续",
        "the quota of the project is reached (%): sending goes on by itself at %": "项目配额已用尽（%）：发送将于 % 自动继续",
        "waiting until %: % asks that no campaign begins around a quarter of an hour":
            "等待至 %：% 要求不要在整刻钟前后开始推送活动",
        "% of the last % tokens are taken by % and not by %, where their devices are registered: they are pushed to, and the devices stay as they are registered":
            "最近 %2 个令牌中有 %1 个被 % 接受，而不被其设备所注册的 %4 接受：仍会推送，设备的注册保持不变",
        "StoreConflict: %. `upgrade-relay store check` may know why. Resumed, the campaign sends again what was on its way":
            "存储冲突：%。`upgrade-relay store check` 或可查明原因。恢复后，推送活动会重新发送当时发送中的推送",
        "the push was refused by %": "推送被 % 拒绝",
        "% of the first % pushes of % were refused by %": "%3 的前 %2 条推送中有 %1 条被 %4 拒绝",
        "% of the last % tokens of % are no longer registered, says %, far more than in its earlier campaigns; none was given up":
            "%4 表示 %3 的最近 %2 个令牌中有 %1 个已不再注册，远多于以往的推送活动；没有放弃任何令牌",
        "%, and where these tokens came from; if they really are dead, resume and they are retired":
            "%，以及这些令牌的来源；如果它们确已失效，请恢复，它们将被停用",
        "%. Check %": "%。请检查%",
        "systemctl % upgrade-relay && ": "systemctl % upgrade-relay && ",
        "%. Check %. Then: %": "%。请检查%。然后：%",
        "%: %. Check %. Then: %": "%：%。请检查%。然后：%",
        "%. Check %. Then: %upgrade-relay campaigns resume %": "%。请检查%。然后：%upgrade-relay campaigns resume %",
        "%: %. Check %. Then: %upgrade-relay campaigns resume %":
            "%：%。请检查%。然后：%upgrade-relay campaigns resume %",
    ]

    /// The texts of APNs about a key, a certificate or a topic.
    static let appleService = [
        "APNs finds the pushes of % malformed": "APNs 认为 % 的推送格式错误",
        "%.push and %.topic": " %.push 与 %.topic",
        "what answers for % at % is not APNs": "在 %2 为 %1 应答的并非 APNs",
        "%.server and %.proxy": " %.server 与 %.proxy",
        "%.server and %.topic": " %.server 与 %.topic",
        "APNs calls a fresh provider token of % expired, so this machine's clock is wrong":
            "APNs 认为 % 刚签发的令牌已过期，说明本机时钟有误",
        "the clock, which says % (timedatectl); no new token is signed before that":
            "本机时钟，目前为 %（timedatectl）；在此之前不签发新令牌",
        "APNs saw no provider token in the pushes of %, although each carries one":
            "APNs 在 % 的推送中没有收到令牌，尽管每条推送都带有令牌",
        "%.server and %.proxy: something on the way to % takes it out": " %.server 与 %.proxy：通往 % 的途中有程序将其去除",
        "APNs judges a client certificate for %, and this relay uses none": "APNs 检查了 % 的客户端证书，而此中继并未使用证书",
        "%.server and %.proxy: something on the way to % presents one": " %.server 与 %.proxy：通往 % 的途中有程序出示了证书",
        "APNs forbids the key of % to push": "APNs 不允许 % 的密钥推送",
        "%.keyId (%): at developer.apple.com, Keys, it must have the Apple Push Notifications service enabled for the topic %, and a topic-specific key must list that topic":
            " %.keyId（%）：在 developer.apple.com 的 Keys 中，须为主题 % 启用 Apple Push Notifications service；限定主题的密钥须列出该主题",
        "the key of % is not for this environment of APNs, %": "% 的密钥不适用于 APNs 的此环境 %",
        "%: keyId (%) and key of a key for that environment (a key that is for one environment only goes to apns, the one for the other to apns.sandboxKey), or server and sandboxServer, if it is the wrong one":
            " %：该环境所用密钥的 keyId（%）与 key（仅适用于一个环境的密钥写在 apns，另一环境的写在 apns.sandboxKey）；若环境有误，则检查 server 与 sandboxServer",
        "APNs takes the key of % for one of another family, on new connections too": "即使在新连接上，APNs 也认为 % 的密钥属于另一组",
        "%: keyId (%), key and teamId (%) must be those of topic %; a topic-specific key goes with keys of its own family alone":
            " %：keyId（%）、key 与 teamId（%）须属于主题 %；限定主题的密钥只能与同组的密钥一起使用",
        "APNs does not accept the topic % of %": "APNs 不接受 %2 的主题 %1",
        "%.topic: it must be the app's bundle id, and the key % of team % must be allowed to push to it; a topic-specific key must list it (developer.apple.com, Keys)":
            " %.topic：须为应用的 bundle id，且团队 %3 的密钥 %2 须允许向其推送；限定主题的密钥须列出该主题（developer.apple.com，Keys）",
        "APNs refuses the credential of %": "APNs 拒绝 % 的凭据",
        "%: keyId (%), teamId (%), topic (%); Apple's page \"Handling notification responses from APNs\" explains the reason":
            " %：keyId（%）、teamId（%）、topic（%）；Apple 的页面“Handling notification responses from APNs”说明该原因",
        "APNs does not accept the provider token of %": "APNs 不接受 % 的令牌",
        "%: key, keyId (%) and teamId (%) must belong together and the key must not be revoked; and this machine's clock, which says %, must be right":
            " %：key、keyId（%）与 teamId（%）须匹配，密钥不得已吊销；本机时钟（目前为 %）须准确",
        "%: these tokens are not of this environment of APNs, or not of this app": "%：这些令牌不属于 APNs 的此环境，或不属于此应用",
        "%.server, and the environment that the devices were registered with (upgrade-relay devices export); no token was given up":
            " %.server，以及设备注册时的环境（upgrade-relay devices export）；没有放弃任何令牌",
        "%: these tokens are of another app than the topic %": "%：这些令牌属于另一应用，而非主题 %",
        "%.topic, and under which app the devices were registered; no token was given up":
            " %.topic，以及设备注册在哪个应用之下；没有放弃任何令牌",
        "%.push and %; no token was given up": " %.push 与 %；没有放弃任何令牌",
        "make a new \"Apple Push Services\" certificate at developer.apple.com, Certificates, and put it there with its key":
            "在 developer.apple.com 的 Certificates 中创建新的“Apple Push Services”证书，并连同其密钥放置于此",
        "the certificate of %, %, ended at %": "% 的证书 % 已于 % 到期",
        "the certificate of %, %, begins at % only": "% 的证书 % 自 % 起才有效",
        "the clock, which says % (timedatectl), and %": "本机时钟，目前为 %（timedatectl），以及 %",
        "the certificate of %, %, is for %, not for %, whose devices wait": "% 的证书 % 适用于 %，而不适用于其设备正在等待的 %",
        "%: %; or the environment that the devices were registered with (upgrade-relay devices export)":
            " %：%；或设备注册时的环境（upgrade-relay devices export）",
        "APNs says that the certificate of %, %, is not for this environment, %": "APNs 表示 % 的证书 % 不适用于此环境 %",
        "%, which is for %, and %.server and sandboxServer": " %（适用于 %），以及 %.server 与 sandboxServer",
        "APNs does not accept the certificate of %, %": "APNs 不接受 % 的证书 %",
        "%: it ends at %, must not be revoked, and must be Apple's; if in doubt, %":
            " %：于 % 到期，不得已吊销，且须由 Apple 签发；如有疑问，%",
        "APNs saw neither a certificate nor a provider token of %, although the connection shows one":
            "APNs 既没有收到 % 的证书也没有收到令牌，尽管连接带有证书",
        "%.server and %.proxy: something on the way to % opens the connection and makes one of its own":
            " %.server 与 %.proxy：通往 % 的途中有程序拆开连接并自行建立连接",
        "%.topic: it must be the app's bundle id, and one of the certificate's, which are %":
            " %.topic：须为应用的 bundle id，且是证书所含的主题之一：%",
        "APNs refuses the certificate of %, %": "APNs 拒绝 % 的证书 %",
        "% and %.topic (%); Apple's page \"Handling notification responses from APNs\" explains the reason":
            " % 与 %.topic（%）；Apple 的页面“Handling notification responses from APNs”说明该原因",
        "APNs refuses the key that % has for the iPhones of %": "APNs 拒绝 % 用于 % 的 iPhone 的密钥",
    ]
}
