internal import CCurl
internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// What the kernel knows of an attempt's connection: the silence of the other end, and a line of a response's head that
/// arrives slowly. libcurl passes on whole lines only, so that the bytes of an unfinished one would pass for silence.
extension Attempt {
    /// Counts what has arrived of a line, when the idle timeout is about to end the attempt.
    func countUnfinishedLine() {
        // In HTTP/2 other streams share the socket, and a head comes in one piece.
        guard found.phases.requestStarted != nil, reader.response == nil, let connection,
            !plan.request.url.isSecure || reach_curl_has_http2(easy) == 0, let traffic = Self.traffic(of: connection)
        else { return }
        let isRecent = plan.request.timeouts.idle.map { .milliseconds(Int64(traffic.data_received_ms)) < $0 } ?? true
        guard isRecent, traffic.bytes_received > countedBytes else { return }
        movedBytes += traffic.bytes_received - countedBytes
        countedBytes = traffic.bytes_received
    }

    /// What the kernel says of its connection since the request began to be sent.
    var silence: ConnectionSilence? {
        guard let began = found.phases.requestStarted, let connection, let traffic = Self.traffic(of: connection) else {
            return nil
        }
        return ConnectionSilence(
            unacknowledged: traffic.unacknowledged, timeouts: UInt32(traffic.timeouts),
            sinceAcknowledgment: .milliseconds(Int64(traffic.acknowledged_ms)), sinceRequest: SystemClock.boot - began)
    }

    private static func traffic(of socket: CInt) -> reach_tcp_traffic? {
        var bytes = [UInt8](repeating: 0, count: 512)
        var length = socklen_t(bytes.count)
        guard getsockopt(socket, CInt(IPPROTO_TCP), TCP_INFO, &bytes, &length) == 0 else { return nil }
        var traffic = reach_tcp_traffic()
        return reach_tcp_traffic(&bytes, Int(length), &traffic) == 0 ? traffic : nil
    }
}
