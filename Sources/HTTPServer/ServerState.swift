import Blocking
import TLS

/// What the loops of one server share.
final class ServerState: Sendable {
    let configuration: HTTPServerConfiguration
    let service: any HTTPService
    let listener: Listener
    let counts: ConnectionCounts
    let tls: Guarded<ServerTLS?>

    init(
        configuration: HTTPServerConfiguration,
        service: any HTTPService,
        listener: Listener
    ) {
        self.configuration = configuration
        self.service = service
        self.listener = listener
        counts = ConnectionCounts(limits: configuration.limits)
        tls = Guarded(configuration.tls)
    }

    var deadlines: HTTPDeadlines { configuration.deadlines }
    var limits: HTTPLimits { configuration.limits }
}
