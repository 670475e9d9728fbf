/** The sandbox's log: JSON lines made of an allow-list of fields. */
import { type DestinationStream, pino } from 'pino';

/** What a line may say. No token, card number, checkout address, credential or body is among it. */
export interface LogFields {
  readonly method?: string;
  readonly requestId?: string;
  /** How it went, in one word. */
  readonly outcome?: string;
  readonly errorCode?: string;
  readonly httpStatus?: number;
  readonly durationMs?: number;
  readonly eventId?: string;
  readonly attempt?: number;
  readonly grpcPort?: number;
  readonly checkoutPort?: number;
  /** For our bugs and broken disks only. */
  readonly error?: unknown;
}

/** Writes one line. */
export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** A log at a level, on stdout unless told otherwise. */
export function openLog(level: string, destination?: DestinationStream): Log {
  const options = { level, base: { process: 'sandbox' }, timestamp: pino.stdTimeFunctions.isoTime };
  const logger = destination ? pino(options, destination) : pino(options);
  return {
    info: (message, fields = {}) => logger.info(allowed(fields), message),
    warn: (message, fields = {}) => logger.warn(allowed(fields), message),
    error: (message, fields = {}) => logger.error(allowed(fields), message),
  };
}

function allowed(fields: LogFields): Record<string, unknown> {
  const { method, requestId, outcome, errorCode, httpStatus, durationMs, eventId, attempt } = fields;
  const { grpcPort, checkoutPort, error } = fields;
  const reason = error instanceof Error ? (error.stack ?? error.message) : error;
  const line = { method, requestId, outcome, errorCode, httpStatus, durationMs, eventId, attempt };
  return { ...line, grpcPort, checkoutPort, error: reason };
}
