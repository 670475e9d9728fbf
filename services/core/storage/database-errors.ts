/** Classifies errors of statements: node-postgres gives SQLSTATE or the system's code, or only a message. */

/**
 * Whether the database was unreachable, disconnected, or timed out: nothing is known to be wrong with the request. A
 * read-only database (25006), a standby or one in maintenance, counts too.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return AWAY_STATES.test(codeOf(error)) || AWAY_CODES.has(codeOf(error)) || AWAY_MESSAGES.test(error.message);
}

/**
 * Whether a failed statement may have been carried out: its connection broke, or its answer did not arrive in time.
 * Includes a connection that broke before the statement was sent, because the error does not tell.
 */
export function isResultLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return LOST_STATES.test(codeOf(error)) || LOST_CODES.has(codeOf(error)) || LOST_MESSAGES.test(error.message);
}

/**
 * Whether one row of a statement is at fault: data exceptions (22), integrity violations (23) and assertions of ours.
 * Deadlocks (40P01) and serialization failures (40001) go away row by row.
 */
export function isAboutOneRow(error: unknown): boolean {
  return error instanceof Error && /^(22...|23...|40P01|40001|ERR_ASSERTION)$/.test(codeOf(error));
}

/** Whether the server stopped a statement that took too long. */
export function isStatementTimeout(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === '57014';
}

/** Whether waiting for a lock timed out. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === '55P03';
}

/** Whether a prepared statement was not executed because a migration has added a column to what it returns. */
export function isPlanOutdated(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === '0A000' && 'routine' in error && error.routine === REPLANS;
}

/** The function of PostgreSQL that says so; its message may be translated. */
const REPLANS = 'RevalidateCachedQuery';

/** Whether the connection must not be used again: it is read-only or broken, or has an outdated plan. */
export function isConnectionSpoilt(error: unknown): boolean {
  return error instanceof Error && (codeOf(error) === '25006' || isPlanOutdated(error) || isResultLost(error));
}

function codeOf(error: Error): string {
  return String((error as { code?: unknown }).code ?? '');
}

const LOST_STATES = /^(08|57P01|57P02|57P05|25P03|25P04)/;
const LOST_CODES = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ECONNABORTED',
]);
const LOST_MESSAGES = /connection terminated|query read timeout/i;

const AWAY_STATES = /^(08|57P|57014|53|55P03|25P03|25P04|25006|40P01|40001)/;
const AWAY_CODES = new Set([...LOST_CODES, 'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETDOWN']);
const AWAY_MESSAGES = new RegExp(
  'connection terminated|connect timeout|timeout expired|query read timeout|timeout exceeded when trying to connect|' +
    'cannot use a pool after|not queryable',
  'i',
);
