// SPDX-License-Identifier: Apache-2.0

extension ReasonText {
    /// The faults and warnings of `/readyz`, and their remedies.
    static let faults = [
        // The store's server.
        "the server is a standby, which nothing can be written to": "该服务器是备库，不可写入",
        "the server's fsync is off: after a crash of its machine the database may be unusable":
            "该服务器的 fsync 已关闭：其机器崩溃后数据库可能无法使用",
        "the server's full_page_writes is off: after a crash of its machine pages may be half old, half new":
            "该服务器的 full_page_writes 已关闭：其机器崩溃后数据页可能新旧各半",
        // The network.
        "no connection to % (is it running, and reachable from here?)": "无法连接 %（它是否在运行？从此处能否到达？）",
        // Remedies.
        "look at the free space, at other programs that have the file open, and at `upgrade-relay store check`; all goes on by itself when the store takes writes":
            "请检查剩余空间、打开该文件的其他程序，以及 `upgrade-relay store check`；存储恢复写入后一切自动继续",
        "put the newest store back, and it goes on by itself; or repeat over the control socket what was lost (withdraw, erase, revoke), and run `upgrade-relay store accept`":
            "请放回最新的存储，之后自动继续；或通过控制套接字重做丢失的操作（撤回、删除、吊销），并运行 `upgrade-relay store accept`",
        "look at the log and at `upgrade-relay store check`; it is tried again five times a second":
            "请查看日志与 `upgrade-relay store check`；每秒重试五次",
        "look at the log and at `upgrade-relay store check`; it is tried again every five seconds, and what waits goes on waiting":
            "请查看日志与 `upgrade-relay store check`；每五秒重试一次，等待中的继续等待",
        "look at the log and at `upgrade-relay store check`; it is tried again every half a minute, and until then a restart forgets what the app stores said since":
            "请查看日志与 `upgrade-relay store check`；每半分钟重试一次，在此之前重启会丢失商店此后的应答",
        "do what the reason says; if it names the store, run `upgrade-relay store check`. The other apps go on":
            "请按原因所述处理；若提到存储，请运行 `upgrade-relay store check`。其他应用照常进行",
        "look at the network, DNS, the proxy and the firewall's outgoing rules; it is dialled again by itself, and `upgrade-relay campaigns resume ID` tries at once":
            "请检查网络、DNS、代理与防火墙的出站规则；将自动重新连接，`upgrade-relay campaigns resume ID` 可立即尝试",
        "look at %; if that reports no trouble, at server and proxy of %. It is probed by itself, and `upgrade-relay campaigns resume ID` probes at once":
            "请查看 %；若其中没有故障，请检查 % 的 server 与 proxy。将自动试探，`upgrade-relay campaigns resume ID` 可立即试探",
        "look at the network and at %; it is asked for again by itself, and `upgrade-relay campaigns resume ID` asks at once":
            "请检查网络与 %；将自动再次请求，`upgrade-relay campaigns resume ID` 可立即请求",
        "if it happens often, another program uses the project: lower %. It ends by itself, and `upgrade-relay campaigns resume ID` probes at once":
            "若经常发生，说明另有程序使用该项目：请降低 %。将自动结束，`upgrade-relay campaigns resume ID` 可立即试探",
        "make sure that no other program signs with this key all the time. It ends by itself, and `upgrade-relay campaigns resume ID` tries at once, with the token that there is":
            "请确认没有其他程序频繁使用此密钥签发令牌。将自动结束，`upgrade-relay campaigns resume ID` 可用现有令牌立即尝试",
        "do what the reason says; the app's other push service goes on. `upgrade-relay campaigns resume ID` tries it again":
            "请按原因所述处理；应用的另一推送服务照常进行。`upgrade-relay campaigns resume ID` 再次尝试",
        "look at apns.server and apns.sandboxServer; if the devices are registered wrongly, import them with the column environment":
            "请检查 apns.server 与 apns.sandboxServer；若设备注册有误，请导入它们并带上 environment 列",
        "make a new certificate at developer.apple.com, put it at apns.certificate with its key, and reload":
            "请在 developer.apple.com 创建新证书，连同其密钥放在 apns.certificate 处，然后重新加载",
        "look at the database and at the way to it; `upgrade-relay nodes` shows the campaigns of each relay. It goes on by itself when the database confirms the lease":
            "请检查数据库及通往它的网络；`upgrade-relay nodes` 显示各中继的推送活动。数据库确认租约后自动继续",
        "give every relay the app's push service, and reload; `upgrade-relay nodes` says which ones live and whose configuration differs. `upgrade-relay campaigns pause ID` ends the warning until then":
            "请为每个中继配置该应用的推送服务，然后重新加载；`upgrade-relay nodes` 显示哪些中继在运行、谁的配置不同。在此之前 `upgrade-relay campaigns pause ID` 可结束此警告",
        "start again the one that is missing, or another one in its place; give all of them the same apps, notify, webhooks and enforce, and reload; `upgrade-relay nodes` shows which one is missing or differs":
            "请重新启动缺少的中继，或用另一个代替；让所有中继的 apps、notify、webhooks 与 enforce 一致，然后重新加载；`upgrade-relay nodes` 显示缺少或不同的中继",
        "correct the file, `upgrade-relay check-config`, then `systemctl reload upgrade-relay`; until then the configuration of before is in use":
            "请更正该文件，运行 `upgrade-relay check-config`，再运行 `systemctl reload upgrade-relay`；在此之前沿用原配置",
        "do what the reason says; no version changes because of it, and it is asked again by itself":
            "请按原因所述处理；版本不会因此改变，且会自动再次查询",
        "do what the reason says; a certificate needs a restart, `tls: null` a reload":
            "请按原因所述处理；证书需要重启，`tls: null` 需要重新加载",
        "do what the reason says; `upgrade-relay version show APP` says more, and `upgrade-relay version set` asks for a version with other texts":
            "请按原因所述处理；`upgrade-relay version show APP` 有更多说明，`upgrade-relay version set` 可用其他文本提出版本",
        "look at the log": "请查看日志",
        // The store.
        "a write has been waiting for % s. Another program holds the write lock, or a write of the relay's own takes that long":
            "一次写入已等待 % 秒。另有程序持有写锁，或中继自身的写入耗时过长",
        "the store's disk is full": "存储所在的磁盘已满",
        "the store is read-only": "存储为只读",
        "another process keeps the store locked": "另一进程锁住了存储",
        "the store's database cannot be reached": "无法连接存储的数据库",
        "the store failed at this; the relay's log says more": "存储在此操作上出错；详见中继的日志",
        "the relay failed at this; its log says more": "中继在此操作上出错；详见其日志",
        "store %, decision %, record %": "存储 %，决定 %，记录 %",
        "the store went back in time": "存储回到了过去的状态",
        ", and it holds %": "，而它现有 %",
        "%: this relay saw %": "%：此中继见过 %",
        "Nothing is sent and nothing is decided. Put the newest store back; or repeat over the control socket what was lost, and run \"upgrade-relay store accept\"":
            "不发送任何推送，也不作任何决定。请放回最新的存储；或通过控制套接字重做丢失的操作，并运行“upgrade-relay store accept”",
        // Relays.
        "it is taken anew": "正在重新取得",
        "its lease is not confirmed: %": "其租约未得到确认：%",
        "no relay sends %, though it should run: none that is alive has a push service for the app, or the one that sends for its % project has none":
            "没有中继发送 %，尽管它应当进行：运行中的中继都没有该应用的推送服务，或为其 % 项目发送的中继没有",
        "the relays of this store have % different configurations, and only the leader's counts for what one does for all":
            "使用此存储的中继有 % 种不同的配置，由一个中继代办的工作只以主导者的配置为准",
        // Certificates, and the configuration.
        "%: % ended at %: put a new one there and reload": "%：% 已于 % 到期：请放置新证书并重新加载",
        "%: % begins at % only: is the clock right?": "%：% 自 % 起才有效：时钟是否准确？",
        "%: % ends at %, in %: put a new one there and reload": "%：% 将于 % 到期（还有 %）：请放置新证书并重新加载",
        "% day": "% 天", "% days": "% 天",
        "not reloaded: the configuration stays as it was: %": "未重新加载：沿用原配置：%",
        "the daemon is stopping": "中继正在停止",
        "the reload at % was refused, the configuration of before is in use: %": "% 的重新加载被拒绝，沿用原配置：%",
        "listen.tls: missing, and % takes connections of other machines: tokens and telephones cross the network in plain HTTP. Name a certificate and its key; or write tls: null, if a proxy in front of the relay has TLS":
            "listen.tls：缺失，而 % 接受其他机器的连接：令牌与手机号以明文 HTTP 经过网络。请指定证书及其密钥；若中继前的代理已有 TLS，请写 tls: null",
    ]
}
