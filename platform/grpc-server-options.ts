import type { ServerOptions } from '@grpc/grpc-js';
import { HTTP2_BOUNDS } from './http2-limits.ts';

/**
 * Options of every gRPC server: pings find a dead peer within half a minute, and an idle connection is closed (a client
 * opens a new one with its next call). `boundHttp2Streams` ends late requests.
 *
 * Node sets no limit to the streams of a session. A gateway has all its merchants' event streams on one, a hundred for
 * each key, and calls beyond the limit would wait: hence more than at the Connect door.
 */
export const GRPC_SERVER_OPTIONS: ServerOptions = {
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.max_concurrent_streams': 16_384,
  'grpc.max_connection_idle_ms': HTTP2_BOUNDS.idleMs,
};
