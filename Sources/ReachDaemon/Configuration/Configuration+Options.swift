package import ReachControl
internal import ReachCore
package import ReachEngine
internal import ReachNetlink

extension Configuration {
    /// What the engine is told of it.
    package var engineOptions: EngineOptions {
        var options = EngineOptions()
        options.anchors = internet.anchors
        options.mark = internet.mark == 0 ? nil : internet.mark
        options.holdDown = HoldDown(
            up: hold.up, down: hold.down, maximum: hold.maximum == .zero ? nil : hold.maximum)
        options.observer.policy = LinkPolicy(
            rules: interfaces.map {
                LinkPolicy.Rule(pattern: $0.match, linkClass: $0.linkClass, isMetered: $0.metered)
            })
        return options
    }

    /// What the socket's server is told of it.
    package var controlLimits: ControlLimits {
        var control = ControlLimits()
        control.connections = limits.connections
        control.connectionsPerUser = limits.connectionsPerUser
        control.targets = limits.targets
        control.backlogBytes = limits.pendingBytes
        return control
    }
}
