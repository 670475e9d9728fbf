import type { ServerOptions } from '@grpc/grpc-js';
import { HTTP2_BOUNDS } from './http2-bounds.ts';

/**
 * Options of every gRPC door: a peer that is gone, or that never spoke, is noticed within half a minute, and one that calls nothing is
 * sent away; a client opens a new connection with its next call. Late requests are ended by `boundHttp2Streams`.
 */
export const GRPC_DOOR_OPTIONS: ServerOptions = {
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.max_connection_idle_ms': HTTP2_BOUNDS.idleMs,
};
