/** Classifies errors of statements: node-postgres gives SQLSTATE or the system's code, or only a message. */
import type { NOT_CONNECTED } from '../../../platform/database-client.ts';

/**
 * Returns whether the database was unreachable, disconnected, timed out or refuses connections, so that nothing is
 * known to be wrong with the request. A database that can store nothing counts, too: a standby, one in maintenance
 * (25006), with a full disk (53), with a failed one (58), or without transaction ids left.
 */
export function isDatabaseAway(error: unknown): boolean {
  const { isNotConnected = false } = Object(error) as Partial<typeof NOT_CONNECTED>;
  if (isNotConnected || isResultLost(error) || isOutOfIds(error)) return true;
  return AWAY.test(codeOf(error)) || AWAY_MESSAGES.test(messageOf(error));
}

/** Returns whether PostgreSQL has run out of transaction ids. 54000 has other causes, too, such as a large row. */
function isOutOfIds(error: unknown): boolean {
  return codeOf(error) === '54000' && GIVES_IDS.has((error as { routine?: unknown }).routine);
}

/**
 * Returns whether a failed statement may have taken effect: its connection broke, or its answer was late. A connection
 * that broke before the statement was sent looks the same, and counts.
 */
export function isResultLost(error: unknown): boolean {
  return LOST.test(codeOf(error)) || LOST_MESSAGES.test(messageOf(error));
}

/**
 * Returns whether one row of a statement is at fault: data exceptions (22), integrity violations (23) and our own
 * assertions. Deadlocks (40P01) and serialization failures (40001) go away row by row.
 */
export function isAboutOneRow(error: unknown): boolean {
  return /^(22...|23...|40P01|40001|ERR_ASSERTION)$/.test(codeOf(error));
}

/** Returns whether the server stopped a slow statement. */
export function isStatementTimeout(error: unknown): boolean {
  return codeOf(error) === '57014';
}

/** Returns whether waiting for a lock timed out. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03';
}

/**
 * Returns whether a statement has undone itself, because what it had counted on a limit could not be stored
 * (`submission/spend-limits.ts`).
 */
export function isNotCounted(error: unknown): boolean {
  return codeOf(error) === '22P02' && messageOf(error).includes(NOT_COUNTED);
}

/** Returns whether a prepared statement did not run because a migration has added a column to its result. */
export function isPlanOutdated(error: unknown): boolean {
  return codeOf(error) === '0A000' && (error as { routine?: unknown }).routine === REPLANS;
}

/** Quoted by the error; no input of a merchant is converted there. */
export const NOT_COUNTED = 'not counted: ';
/** PostgreSQL's functions that say so; messages may be translated. */
const GIVES_IDS: ReadonlySet<unknown> = new Set(['GetNewTransactionId', 'GetNewMultiXactId']);
const REPLANS = 'RevalidateCachedQuery';

/** Returns whether the connection must not be used again: it is read-only, broken, or has an outdated plan. */
export function isConnectionSpoilt(error: unknown): boolean {
  return codeOf(error) === '25006' || isPlanOutdated(error) || isResultLost(error);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}

const LOST =
  /^(08|57P01|57P02|57P05|25P03|25P04|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ECONNABORTED)/;
const LOST_MESSAGES = /connection terminated|query read timeout/i;

const AWAY = /^(57P|57014|53|58|55P03|25006|40P01|40001|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETDOWN)/;
const AWAY_MESSAGES = /connect timeout|timeout expired|timeout exceeded when|cannot use a pool after|not queryable/i;
