/** The demo merchant's log: JSON lines with allowed fields only. */
import { type Logger, pino } from 'pino';

/** What a line may say. Bodies, signatures and secrets are not among it. */
export interface LogFields {
  readonly event: 'ready' | 'received' | 'refused' | 'failed';
  readonly port?: number;
  readonly kind?: string;
  readonly statusInfo?: string;
  readonly requestId?: string;
  readonly duplicate?: boolean;
  readonly reason?: string;
}

/** Writes lines. */
export interface Log {
  info(fields: LogFields): void;
  error(fields: LogFields): void;
}

/** A log on standard output. */
export function createLog(level: string): Log {
  const logger: Logger = pino({ level, base: { process: 'merchant' }, timestamp: pino.stdTimeFunctions.isoTime });
  return {
    info: (fields) => logger.info(allowed(fields)),
    error: (fields) => logger.error(allowed(fields)),
  };
}

function allowed({ event, port, kind, statusInfo, requestId, duplicate, reason }: LogFields): LogFields {
  return Object.fromEntries(
    Object.entries({ event, port, kind, statusInfo, requestId, duplicate, reason }).filter(
      ([, value]) => value !== undefined,
    ),
  ) as unknown as LogFields;
}
