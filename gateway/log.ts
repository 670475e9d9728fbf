import { type DestinationStream, type Level, pino } from 'pino';
import { traceFields } from '../proto/tracing.ts';

/** Everything that may stand in a log line. What is not named here is not written, whatever is passed. */
export interface LogFields {
  /** The operation that a request created or named. */
  readonly requestId?: string | undefined;
  /** The trace, while tracing is on. */
  readonly traceId?: string | undefined;
  readonly merchantId?: string | undefined;
  readonly method?: string | undefined;
  /** The route's pattern, never the path. */
  readonly route?: string | undefined;
  readonly status?: number | undefined;
  readonly durationMs?: number | undefined;
  /** The client was gone before the answer was out. */
  readonly aborted?: boolean | undefined;
  readonly port?: number | undefined;
  /** A code of ours, of gRPC or of Node. */
  readonly code?: string | number | undefined;
  /** Class of an error, and its frames without its message. */
  readonly error?: string | undefined;
  readonly stack?: string | undefined;
  // The relay's refusals (PRODUCT section 10).
  readonly reason?: string | undefined;
  readonly kind?: string | undefined;
  readonly statusInfo?: string | undefined;
  readonly claimedMerchantId?: string | undefined;
  readonly address?: string | undefined;
  readonly bodyBytes?: number | undefined;
  readonly bodySha256?: string | undefined;
  readonly signatureSha256Prefix?: string | undefined;
}

const ALLOWED = [
  'requestId',
  'traceId',
  'merchantId',
  'method',
  'route',
  'status',
  'durationMs',
  'aborted',
  'port',
  'code',
  'error',
  'stack',
  'reason',
  'kind',
  'statusInfo',
  'claimedMerchantId',
  'address',
  'bodyBytes',
  'bodySha256',
  'signatureSha256Prefix',
] as const satisfies readonly (keyof LogFields)[];

/** One JSON line per event. */
export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/** A log on stdout, or on the stream given. */
export function createLog(level: Level | 'silent', destination?: DestinationStream): Log {
  const options = { level, base: { process: 'gateway' }, timestamp: pino.stdTimeFunctions.isoTime };
  const logger = destination ? pino(options, destination) : pino(options);
  return {
    info: (event, fields) => logger.info(allowed(fields), event),
    warn: (event, fields) => logger.warn(allowed(fields), event),
    error: (event, fields) => logger.error(allowed(fields), event),
  };
}

/** What may be told of an error: its class, code and frames. Messages may quote what we were sent. */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: typeof error };
  const code = 'code' in error && ['string', 'number'].includes(typeof error.code) ? (error.code as string) : undefined;
  const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
  return {
    error: error.name,
    code,
    stack: frames
      .slice(0, 8)
      .map((line) => line.trim())
      .join(' < '),
  };
}

function allowed(fields: LogFields = {}): LogFields {
  const known = { ...traceFields(), ...fields };
  return Object.fromEntries(ALLOWED.map((name) => [name, known[name]]).filter(([, value]) => value !== undefined));
}
