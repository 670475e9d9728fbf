/** Lists as CSV (RFC 4180), streamed page by page. */
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from 'koa';
import { z } from 'zod';
import { digitsOf } from '../../platform/currencies.ts';
import { Places } from '../../platform/places.ts';
import { Turns } from '../../platform/turns.ts';
import { isServiceError, Problem } from '../http/problem.ts';
import type { Json } from './answer.ts';

export interface CsvPage {
  readonly items: readonly object[];
  readonly nextPageToken?: string | undefined;
}

/** The second form of a list's answer, for its description. */
export const CSV = {
  mediaType: 'text/csv',
  schema: z.string(),
  description:
    'With `Accept: text/csv` all items, a line each with the names of the fields first; `amount…Major` beside each ' +
    'amount is in major units. Texts are quoted; an apostrophe stands where a spreadsheet could take one for a formula. ' +
    '`bom=1` begins it with a byte order mark, which Excel needs to read UTF-8.',
} as const;

/** The query of a list that can be CSV. */
export const CSV_QUERY = {
  bom: z.literal('1').describe('Of CSV: begin it with a byte order mark, for Excel').optional(),
};

const PAGE_SIZE = 200;
/**
 * The shortest time between two pages; besides, an export waits as long as its last page took, so it has core half of
 * the time at most.
 */
const PAGE_MS = 50;
/** A reader that reads nothing for this long is disconnected, and its place is free for another export. */
const STALLED_MS = 60_000;
/** Number of tries for a page while core refuses it or is away, a second apart at first. */
const TRIES = 5;
/** Exports that read a page at a time at a gateway. */
const MOST_READING = 8;
/** Exports that are open at a gateway, most of which wait for their readers: each holds a page in memory. */
const MOST_EXPORTS = 128;

/**
 * Limits exports, since the rate of requests does not bound their cost. Each account has one at a time. A slow reader
 * costs only memory, so many exports may be open; they read from core in turns.
 */
export class ExportLimit {
  readonly #exports = new Places({ total: MOST_EXPORTS, perKey: 1 });
  readonly #reading = new Turns({ total: MOST_READING });

  /**
   * Takes a place. Returns a function that gives it back. Throws RATE_LIMITED when the account has one already, or none
   * is free.
   */
  open(account: string): () => void {
    const place = this.#exports.take(account);
    if (typeof place !== 'string') return () => place.leave();
    throw new Problem('RATE_LIMITED', { detail: 'An export is under way; one at a time.', retryAfterSeconds: 10 });
  }

  /** Reads a page of an account in its turn, unless its reader has gone before that. */
  inTurn<T>(account: string, read: () => Promise<T>, gone: AbortSignal): Promise<T> {
    return this.#reading.run(account, read, { signal: () => gone });
  }
}

/** Reads the page that the query names, unless another is given. */
type ReadPage = (page: { readonly pageSize?: number; readonly pageToken?: string }) => Promise<CsvPage>;

export interface Exporter {
  /** A merchant, or the operators. */
  readonly account: string;
  /** False once the caller's credential has ended, or the gateway stops. */
  readonly isLive: () => boolean;
}

/** The part of a call that answers with a list. */
interface ListCall {
  readonly ctx: Context;
  readonly exportLimit: ExportLimit;
  readonly exporter: Exporter;
}

/** Answers with a page of a list, or with `Accept: text/csv` with all of it. `schema` has the fields of an item. */
export async function answerPageOrCsv(call: ListCall, schema: z.ZodObject, read: ReadPage): Promise<void> {
  const isCsv = call.ctx.accepts('application/json', CSV.mediaType) === CSV.mediaType;
  if (isCsv) await answerCsv(call, schema, read);
  else call.ctx.body = await read({});
}

/**
 * Answers with all items of a list. One page is in memory at a time, and the next one is read when the reader has taken
 * it. An export that fails after its beginning is cut off: its last chunk is missing. Throws RATE_LIMITED, and what
 * reading the first page throws.
 */
async function answerCsv(call: ListCall, schema: z.ZodObject, read: ReadPage): Promise<void> {
  const { ctx, exportLimit, exporter } = call;
  if (ctx.res.closed) return;
  const release = exportLimit.open(exporter.account);
  const gone = new AbortController();
  ctx.res.once('close', () => {
    release();
    gone.abort();
  });
  try {
    const inTurn: ReadPage = (page) => exportLimit.inTurn(exporter.account, () => read(page), gone.signal);
    const first = await inTurn({ pageSize: PAGE_SIZE });
    ctx.res.setTimeout(STALLED_MS, () => ctx.res.destroy());
    ctx.type = 'text/csv; charset=utf-8; header=present';
    ctx.set('Content-Disposition', 'attachment; filename="holdfast.csv"');
    const lines = linesOf(columnsOf(schema), first, (pageToken) => nextPage(exporter, inTurn, pageToken));
    ctx.body = Readable.from(ctx.query.bom === '1' ? withMark(lines) : lines, {
      objectMode: false,
      highWaterMark: 64 * 1024,
    });
  } catch (error) {
    release();
    if (!gone.signal.aborted) throw error;
  }
}

/** Excel takes a file for UTF-8 by its byte order mark alone. */
async function* withMark(lines: AsyncIterable<string>): AsyncGenerator<string> {
  yield '\u{FEFF}';
  yield* lines;
}

async function* linesOf(
  columns: readonly Column[],
  first: CsvPage,
  next: (pageToken: string) => Promise<CsvPage>,
): AsyncGenerator<string> {
  yield `${columns.map(([name]) => name).join(',')}\r\n`;
  for (let page = first; ; ) {
    const lines = page.items.map((item) => `${columns.map(([, read]) => read(item)).join(',')}\r\n`);
    if (lines.length > 0) yield lines.join('');
    if (page.nextPageToken === undefined) return;
    const startedMs = performance.now();
    page = await next(page.nextPageToken);
    await delay(Math.max(PAGE_MS, performance.now() - startedMs));
  }
}

async function nextPage({ isLive }: Exporter, read: ReadPage, pageToken: string): Promise<CsvPage> {
  for (let tries = 1; ; tries++) {
    if (!isLive()) throw new Error('the credential has ended, or the gateway stops');
    try {
      return await read({ pageSize: PAGE_SIZE, pageToken });
    } catch (error) {
      if (tries === TRIES || !isServiceError(error)) throw error;
      await delay(tries * 1_000);
    }
  }
}

type Column = readonly [name: string, read: (item: object) => string];

/**
 * A column for each field that the schema has; those of an object within it are named with a dot, other structures are
 * JSON.
 */
function columnsOf(schema: z.ZodObject, of: (item: object) => Json = (item) => item as Json, prefix = ''): Column[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const type = field instanceof z.ZodOptional ? field.unwrap() : field;
    if (type instanceof z.ZodObject)
      return columnsOf(type, (item) => (of(item)[name] ?? {}) as Json, `${prefix}${name}.`);
    const column: Column = [prefix + name, (item) => cell(of(item)[name])];
    if (!/^amount/.test(name)) return [column];
    const major = (item: object) => majorUnits(of(item)[name], String((item as Json).currency));
    return [column, [`${prefix}${name}Major`, major]];
  });
}

/** An amount in major units, with the digits of its currency: 1050 EUR is 10.50. */
export function majorUnits(amount: unknown, currency: string): string {
  if (typeof amount !== 'number') return '';
  const digits = digitsOf(currency) ?? 0;
  const text = String(amount).padStart(digits + 1, '0');
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/**
 * Guarded against formulas (OWASP, CSV injection): spreadsheets run what begins with one of these, in East Asian locales
 * also the full-width signs. Where they separate cells by another character than a comma, a cell also begins behind
 * that, and the quotes around ours are not heeded.
 */
const FORMULA = /^(?=[=+\-@\t\r\n＝＋－＠])|(?<=[;|\t\r\n]["']*)(?=[=+\-@＝＋－＠])/g;

/**
 * A field: a text is quoted whole, so that a spreadsheet can be told to leave it a text (000123), a number is not. An
 * object is JSON.
 */
export function cell(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return `"${text.replaceAll(FORMULA, "'").replaceAll('"', '""')}"`;
}
