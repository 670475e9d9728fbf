/**
 * The log of every process: JSON lines on standard output. A line holds only the fields named here, so nothing secret
 * reaches it by accident; repeated lines are limited and counted (`log-repeats.ts`).
 */
import { stdout } from 'node:process';
import { type DestinationStream, type LevelWithSilent, pino } from 'pino';
import { type Line, limitRepeats } from './log-repeats.ts';
import { traceFields } from './tracing.ts';

/** Every field that a line may hold. `LogFields` makes the compiler refuse others, `allowed` drops them at run time. */
// biome-ignore format: a group of fields on a line.
export const LOG_FIELDS = [
  // What the line is about. `requestId` is the operation's, `httpRequestId` the X-Request-Id of the answer, `processor`
  // a name of PROCESSORS.
  'requestId', 'httpRequestId', 'holdRequestId', 'merchantId', 'processor', 'deliveryId', 'eventId', 'traceId',
  // A request or call. `route` is the route's pattern, never the path; `aborted`: the client disconnected before the
  // answer was sent; `field` broke the contract; `changed`: which fields of a hold, and to which times.
  'method', 'route', 'role', 'changed', 'status', 'httpStatus', 'durationMs', 'latencyMs', 'aborted', 'field',
  // How it ended: words and codes of ours, of gRPC, of Node, of PostgreSQL, of the processor. Never a message, which
  // may quote input.
  'code', 'errorCode', 'processorCode', 'outcome', 'reason', 'state', 'told', 'kept', 'duplicate',
  // An error: its class, what caused it, the violated constraint, and its stack's frames.
  'error', 'cause', 'constraint', 'stack',
  // A notification, and what the relay knows about one that it could not verify.
  'kind', 'statusInfo', 'claimedMerchantId', 'address', 'bodyBytes', 'bodySha256', 'signatureSha256Prefix',
  // Deliveries, jobs and the process itself.
  'endpointId', 'number', 'attempt', 'pause', 'pausedUntil', 'job', 'what', 'serving', 'tls', 'clockOffsetS',
  'port', 'corePort', 'connectPort', 'grpcPort', 'checkoutPort',
  // How many; `of` names the event of lines that were left out.
  'count', 'of',
] as const;

/** The fields of a line. */
export type LogFields = { readonly [name in (typeof LOG_FIELDS)[number]]?: string | number | boolean | undefined };

/** One line per event; `event` is a constant of the code, never anything that was received. */
export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/** The lowest level that is written. */
export type LogLevel = LevelWithSilent;

/** Options for tests. */
export interface LogOptions {
  readonly destination?: DestinationStream;
  /** The window in which equal lines are counted, milliseconds. */
  readonly windowMs?: number;
}

/** Opens the log of a process, such as `gateway`. */
export function openLog(process: string, level: LogLevel, options: LogOptions = {}): Log {
  const settings = { level, base: { process }, timestamp: pino.stdTimeFunctions.isoTime, messageKey: 'event' };
  const logger = pino(settings, options.destination ?? stdout);
  let leftOut = 0;
  const put = ({ level, event, fields }: Line) => {
    if (stdout.writableLength > MOST_UNREAD_BYTES) {
      leftOut += 1;
      return;
    }
    if (leftOut > 0) logger.warn({ count: leftOut }, 'lines left out');
    leftOut = 0;
    logger[level](fields, event);
  };
  const write = limitRepeats(put, options.windowMs);
  const writer = (level: Line['level']) => (event: string, fields?: LogFields) => {
    if (logger.isLevelEnabled(level)) write({ level, event, fields: allowed(fields) });
  };
  return { info: writer('info'), warn: writer('warn'), error: writer('error') };
}

/**
 * The loggable parts of an error: class, code, cause, violated constraint and frames. Not its message, which may quote
 * input.
 */
export function errorFields(thrown: unknown): LogFields {
  if (!(thrown instanceof Error)) return { error: typeof thrown };
  // The first of several errors says more than the AggregateError around them.
  const error = thrown instanceof AggregateError && thrown.errors[0] instanceof Error ? thrown.errors[0] : thrown;
  const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
  const constraint = 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : undefined;
  const stack = frames.slice(0, FRAMES).map((line) => line.trim());
  return { error: error.name, code: codeOf(error), cause: causeOf(error), constraint, stack: stack.join(' < ') };
}

/**
 * Writes uncaught exceptions and what libraries print on the console to the log, without their messages, for the whole
 * process. An uncaught exception ends the process with exit code 1; a log that cannot be written, as on a full disk,
 * does not.
 */
export function captureOutput(log: Log): void {
  stdout.on('error', () => undefined);
  process.once('uncaughtException', (error) => {
    log.error('crashed', errorFields(error));
    process.exit(1);
  });
  const print = (...printed: unknown[]) => {
    const error = printed.find((value) => value instanceof Error);
    log.warn('library message', error && errorFields(error));
  };
  Object.assign(globalThis.console, { log: print, info: print, warn: print, error: print, debug: print, trace: print });
}

/** Kept of what a reader of standard output has not taken yet. pino's own writer keeps all, and waits for it to exit. */
const MOST_UNREAD_BYTES = 8 * 1024 * 1024;

const FRAMES = 10;
const LONGEST_TEXT = 256;
const LONGEST_STACK = 2_000;

/** Such as `ConnectTimeoutError UND_ERR_CONNECT_TIMEOUT`. */
function causeOf({ cause }: Error): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  const code = codeOf(cause);
  return code === undefined ? cause.name : `${cause.name} ${code}`;
}

function codeOf(error: Error): string | number | undefined {
  const code = 'code' in error ? error.code : undefined;
  return typeof code === 'string' || typeof code === 'number' ? code : undefined;
}

/** Keeps the allowed fields, in the list's order, as plain values of bounded length. */
function allowed(fields: LogFields = {}): LogFields {
  const given: LogFields = { ...traceFields(), ...fields };
  const kept: { [name: string]: string | number | boolean } = {};
  for (const name of LOG_FIELDS) {
    const value = given[name];
    if (typeof value === 'string') kept[name] = value.slice(0, name === 'stack' ? LONGEST_STACK : LONGEST_TEXT);
    else if (typeof value === 'number' || typeof value === 'boolean') kept[name] = value;
  }
  return kept;
}
