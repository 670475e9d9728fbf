import { type Logger, pino } from 'pino';
import { traceFields } from '../../proto/tracing.ts';

export type Log = Logger;

/** JSON lines on standard output. What is logged is built field by field, never a whole request, row or error of the database. */
export function openLog(name: string, level: string): Log {
  return pino({ level, base: { name }, timestamp: pino.stdTimeFunctions.isoTime, mixin: traceFields });
}

/** What may be told of an error in a log: never its parameters, which may be secret. */
export function describeError(error: unknown): { error: string; code?: string } {
  if (!(error instanceof Error)) return { error: 'not an Error' };
  const code = (error as { code?: unknown }).code;
  const text = error.message.split('\n', 1)[0]?.slice(0, 300) ?? '';
  return { error: `${error.name}: ${text}`, ...(code !== undefined && { code: String(code) }) };
}
