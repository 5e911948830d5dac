package import ReachCore

extension EncodedEvent {
    /// A notice of the kernel, as `reach watch --all` prints it.
    package static func notice(_ notice: Notice, at moment: Instant) -> EncodedEvent {
        EncodedEvent(notice.typeWord, at: moment) { json in
            json.field("action", notice.isRemoval ? "removed" : "new")
            json.details(of: notice)
        }
    }
}

extension Notice {
    fileprivate var typeWord: String {
        switch self {
        case .link, .linkRemoved: "link"
        case .address, .addressRemoved: "address"
        case .neighbour, .neighbourRemoved: "neighbour"
        case .route, .routeRemoved: "route"
        case .rule, .ruleRemoved: "rule"
        case .nexthop, .nexthopRemoved: "nexthop"
        case .setting: "setting"
        case .portal: "portal"
        }
    }

    fileprivate var isRemoval: Bool {
        switch self {
        case .linkRemoved, .addressRemoved, .neighbourRemoved, .routeRemoved, .ruleRemoved, .nexthopRemoved: true
        default: false
        }
    }
}

extension JSONWriter {
    fileprivate mutating func details(of notice: Notice) {
        switch notice {
        case .link(let link):
            field("ifindex", link.index.wide)
            field("interface", link.name)
            field("up", link.isUp)
            field("running", link.isUsable)
            field("operstate", link.operationalState?.word)
            field("kind", link.kind)
            field("controller", link.controller?.wide)
        case .linkRemoved(let index): field("ifindex", index.wide)
        case .address(let address), .addressRemoved(let address):
            field("ifindex", address.interface.wide)
            field("address", address.address.description)
            field("prefix_length", address.prefixLength.wide)
            field("ready", address.isReady)
            field("deprecated", address.flags.contains(.deprecated))
        case .neighbour(let neighbour): self.neighbour(neighbour.key, neighbour.state)
        case .neighbourRemoved(let key): self.neighbour(key, nil)
        case .route(let route, let replaces):
            field("replaces", replaces)
            self.route(route)
        case .routeRemoved(let route): self.route(route)
        case .rule(let rule), .ruleRemoved(let rule):
            field("family", rule.family == .ipv4 ? "ipv4" : "ipv6")
            field("priority", rule.priority.wide)
            field("table", rule.table.wide)
        case .nexthop(let id), .nexthopRemoved(let id): field("id", id.wide)
        case .setting(let family, let interface):
            field("family", family == .ipv4 ? "ipv4" : "ipv6")
            field("ifindex", interface?.wide)
        case .portal(let announcement):
            field("ifindex", announcement.interface.wide)
            field("router", announcement.router.description)
            field("uri", announcement.uri)
        }
    }

    private mutating func neighbour(_ key: Neighbour.Key, _ state: NeighbourState?) {
        field("ifindex", key.interface.wide)
        field("address", key.address.description)
        field("state", state?.rawValue)
    }

    private mutating func route(_ route: Route) {
        field("destination", route.destination.description)
        field("kind", String(describing: route.type))
        field("table", route.table.wide)
        field("metric", route.metric?.wide)
        field("nexthop_id", route.nexthopObject?.wide)
        objects("hops", route.hops) { json, hop in
            json.field("ifindex", hop.interface?.wide)
            json.field("gateway", hop.gateway?.description)
        }
    }
}

extension Link.OperationalState {
    /// The state's name in sysfs; ip(8) prints the same in capitals.
    package var word: String {
        switch self {
        case .unknown: "unknown"
        case .notPresent: "notpresent"
        case .down: "down"
        case .lowerLayerDown: "lowerlayerdown"
        case .testing: "testing"
        case .dormant: "dormant"
        case .up: "up"
        }
    }
}
