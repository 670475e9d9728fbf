import assert from 'node:assert/strict';
import { timestampDate, timestampFromDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { type Entry, EntryKind, EntrySchema } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { identifierOf } from '../domain/outcome.ts';
import { HoldfastError } from '../domain/refusal.ts';
import { breachesOf, ContractViolation } from './contract-breaches.ts';
import type { Processor } from './processor.ts';

/** A source of a processor's books. */
export type Ledger = Pick<Processor, 'listEntries'>;

/** A page of a processor's books. */
export interface Page {
  readonly entries: readonly Entry[];
  /** Entries that break the contract, which are ignored. */
  readonly invalid: readonly InvalidEntry[];
}

export interface InvalidEntry {
  /** Empty when it is no identifier. */
  readonly requestId: string;
  /** The wrong field, and the fault. */
  readonly what: string;
}

/** Selects entries of a processor's books; {} = all. */
export interface Selection {
  /** Entries of this authorization. */
  readonly authorizationRequestId?: string;
  /** Entries changed at this time or later, and those without a time of change. */
  readonly changedFrom?: Date | undefined;
}

/**
 * Reads a processor's books page by page. Throws UNAVAILABLE, naming the processor, when it does not answer, when a
 * page breaks the contract or lists an entry twice, and when the pages do not end: when one is repeated, or they have
 * more than `most` entries.
 */
export async function* readEntries(
  name: string,
  ledger: Ledger,
  { authorizationRequestId = '', changedFrom }: Selection,
  most = MOST_OF_ONE,
): AsyncGenerator<Page> {
  const changed = changedFrom && { changedFrom: timestampFromDate(changedFrom) };
  // A processor may ignore what it was asked.
  const isAsked = ({ changedAt }: Entry) => !changedFrom || !changedAt || timestampDate(changedAt) >= changedFrom;
  let count = 0;
  const firsts = new Set<string | undefined>();
  let pageToken = '';
  do {
    const request = { pageSize: 1_000, pageToken, authorizationRequestId, ...changed };
    const page = await ledger.listEntries(request).catch((cause) => {
      if (cause instanceof HoldfastError) throw cause;
      const why = cause instanceof ContractViolation ? `breaks the contract (${cause.message})` : 'does not answer';
      throw unreadable(`processor ${name} ${why}, so its books cannot be read`, cause);
    });
    // An identifier appears once in the books, and once more when it has changed, whatever the page tokens are.
    const [entry] = page.entries;
    const first = entry && `${entry.requestId} ${entry.changedAt && timestampMs(entry.changedAt)}`;
    if (firsts.has(first)) throw unreadable(`processor ${name} repeats a page, so its books do not end`);
    firsts.add(first);
    count += page.entries.length;
    if (count > most) throw unreadable(`processor ${name} lists more than ${most} entries, so its books do not end`);
    const read = checked(page.entries.filter(isAsked));
    const twice = firstTwice(read.entries);
    if (twice) throw unreadable(`processor ${name} lists ${twice} twice on a page, so its books cannot be read`);
    yield read;
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
}

/** Greatest number of a processor's entries that match no operation of ours: after a restore, lost operations. */
export const MOST_UNKNOWN = 1_000_000;

/** More entries than one authorization has. */
const MOST_OF_ONE = 100_000;

function checked(all: readonly Entry[]): Page {
  const entries: Entry[] = [];
  const invalid: InvalidEntry[] = [];
  for (const entry of all) {
    // The contract allows capital letters.
    entry.requestId = entry.requestId.toLowerCase();
    const [breach] = breachesOf(EntrySchema, entry);
    const requestId = UUID.test(entry.requestId) ? entry.requestId : '';
    if (breach) invalid.push({ requestId, what: `${breach.field} ${breach.description}` });
    else entries.push(entry);
  }
  return { entries, invalid };
}

function firstTwice(entries: readonly Entry[]): string | undefined {
  const seen = new Set<string>();
  for (const { requestId } of entries) {
    if (seen.has(requestId)) return requestId;
    seen.add(requestId);
  }
  return undefined;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function unreadable(text: string, cause?: unknown): HoldfastError {
  return new HoldfastError('UNAVAILABLE', text, { cause, retryAfterS: 1 });
}

type Sent = Parameters<typeof identifierOf>[0];

/**
 * Returns the amount taken back from a capture, refund or OCT by the processor's books, minor units: reversed and not
 * reinstated, or returned. Without one, the amount taken back from a hold and from none of its captures, by the
 * identifiers of its authorizations. An OCT has none. Throws UNAVAILABLE when the processor does not answer.
 */
export async function readTakenBack(
  name: string,
  ledger: Ledger,
  authorizations: readonly string[],
  subject: Sent | undefined,
): Promise<bigint> {
  const about = authorizations.length > 0 ? authorizations : [subject && identifierOf(subject)];
  const pages: Page[] = [];
  for (const authorizationRequestId of about) {
    assert(authorizationRequestId, 'what came back was stored');
    pages.push(...(await Array.fromAsync(readEntries(name, ledger, { authorizationRequestId }))));
  }
  const [wrong] = pages.flatMap(({ invalid }) => invalid);
  if (wrong) throw unreadable(`the books of processor ${name} break the contract: ${wrong.requestId} ${wrong.what}`);
  // Entries changed meanwhile may be listed again.
  const latest = new Map(pages.flatMap((page) => page.entries).map((entry) => [entry.requestId, entry]));
  const entries = [...latest.values()];
  if (subject) return sum(entries.filter(({ requestId }) => requestId === identifierOf(subject)));
  const ofKind = (kind: EntryKind) => sum(entries.filter((entry) => entry.kind === kind));
  return ofKind(EntryKind.AUTHORIZATION) - ofKind(EntryKind.CAPTURE);
}

function sum(entries: readonly Entry[]): bigint {
  return entries.reduce((total, { reversed, returned }) => total + reversed + returned, 0n);
}
