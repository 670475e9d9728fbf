import assert from 'node:assert/strict';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  Answer,
  type Entry,
  EntryKind,
  type ListEntriesRequest,
} from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Answered, Kit, Method, Request } from './kit.ts';

/** Which entries are listed. */
type Filter = Partial<Pick<ListEntriesRequest, 'authorizationRequestId' | 'merchantId' | 'account' | 'changedFrom'>>;

/** All entries, page by page; only those of an authorization when it is named. */
export async function listAll(kit: Kit, authorizationRequestId = '', pageSize = 500): Promise<Entry[]> {
  return list(kit, { authorizationRequestId }, pageSize);
}

/** The entries of a filter, page by page. Pages that lead nowhere are a fault, not a reason to go on for ever. */
export async function list(kit: Kit, filter: Filter, pageSize = 500): Promise<Entry[]> {
  const entries: Entry[] = [];
  const tokens = new Set<string>();
  let pageToken = '';
  do {
    const page = await kit.client.listEntries({ pageSize, pageToken, ...filter });
    assert(
      page.entries.length <= pageSize,
      `a page has ${page.entries.length} entries, and ${pageSize} were asked for`,
    );
    entries.push(...page.entries);
    pageToken = page.nextPageToken;
    assert(pageToken === '' || page.entries.length > 0, 'a page without entries names a next page');
    assert(!tokens.has(pageToken), 'a page names a next page that was read before');
    assert(entries.length <= MOST_ENTRIES, `the books have more than ${MOST_ENTRIES} entries: they do not end`);
    tokens.add(pageToken);
  } while (pageToken !== '');
  return entries;
}

const MOST_ENTRIES = 1_000_000;

/** The sums of an authorization, minor units. */
type Sums = { readonly [name in 'captured' | 'voided' | 'reversed' | 'incremented' | 'refunded']?: bigint };

/** Demands of the books that an authorization adds up, and that its sums are these; a sum not named is 0. */
export async function expectBooks(kit: Kit, authorizationRequestId: string, expected: Sums): Promise<void> {
  const { captured, voided, reversed, incremented, refunded } = await demandSums(kit, authorizationRequestId);
  const nothing = { captured: 0n, voided: 0n, reversed: 0n, incremented: 0n, refunded: 0n };
  const sums = { captured, voided, reversed, incremented, refunded };
  assert.deepEqual(sums, { ...nothing, ...expected }, 'the sums of the authorization in the books');
}

/** Demands of the books that an authorization adds up; answers its own entry. */
export async function demandSums(kit: Kit, authorizationRequestId: string): Promise<Entry> {
  return addUp(await listAll(kit, authorizationRequestId), authorizationRequestId);
}

/** Demands of the books that the authorization that a request is about, if any, adds up. */
export async function demandBooks(kit: Kit, { authorizationRequestId }: Request): Promise<void> {
  if (authorizationRequestId !== undefined) await demandSums(kit, authorizationRequestId);
}

/** Demands that the entries of an authorization agree with its sums; answers its own entry. */
export function addUp(entries: readonly Entry[], requestId: string): Entry {
  const [authorization, ...more] = entries.filter((entry) => entry.requestId === requestId);
  assert(authorization, `the books do not know the authorization ${requestId}`);
  assert.equal(more.length, 0, `the books name the authorization ${requestId} twice`);
  assert.equal(
    new Set(entries.map((entry) => entry.requestId)).size,
    entries.length,
    'an identifier stands in the books twice',
  );
  const done = (kind: EntryKind) => entries.filter((entry) => entry.kind === kind && entry.answer === Answer.APPROVED);
  const captures = done(EntryKind.CAPTURE);
  const refunds = done(EntryKind.REFUND);
  assert.equal(authorization.captured, sum(captures), 'captured is what the captures of the authorization charged');
  assert.equal(authorization.incremented, sum(done(EntryKind.INCREMENT)), 'incremented is what increments added');
  assert.equal(authorization.refunded, sum(refunds), 'refunded is what refunds gave back');
  assert(authorization.voided >= sum(done(EntryKind.VOID)), 'voids gave back more than the authorization shows');
  for (const { requestId: id, refunded, reversed, amount } of captures) {
    assert.equal(refunded, sum(refunds.filter((one) => one.captureRequestId === id)), 'what was refunded of a capture');
    assert(refunded + reversed <= amount, 'more was given back and taken back of a capture than it charged');
  }
  const { captured, voided, amount, incremented, refunded, reversed } = authorization;
  assert(captured + voided <= amount + incremented, 'more was captured and given back than was reserved');
  assert(refunded + reversed <= captured, 'more was refunded and taken back than was captured');
  return authorization;
}

function sum(entries: readonly Entry[]): bigint {
  return entries.reduce((total, { amount }) => total + amount, 0n);
}

const KIND_OF: Readonly<Record<Method, EntryKind>> = {
  authorize: EntryKind.AUTHORIZATION,
  capture: EntryKind.CAPTURE,
  void: EntryKind.VOID,
  incrementAuthorization: EntryKind.INCREMENT,
  extendAuthorization: EntryKind.EXTENSION,
  refund: EntryKind.REFUND,
  credit: EntryKind.CREDIT,
};

/** What the books say otherwise than an answer did, one line each. What was NOT_PERFORMED need not stand in them. */
export function differences({ method, request, result }: Answered, entry: Entry | undefined): string[] {
  const name = `${method} ${request.requestId}`;
  if (!entry)
    return result.answer === Answer.NOT_PERFORMED
      ? []
      : [`${name} was answered ${Answer[result.answer]}, and is missing`];
  const found: string[] = [];
  const same = (what: string, inBooks: unknown, expected: unknown) => {
    if (inBooks !== expected) found.push(`${name}: ${what} is ${inBooks}, not ${expected}`);
  };
  same('kind', EntryKind[entry.kind], EntryKind[KIND_OF[method]]);
  // An accepted operation has ended meanwhile, or not.
  if (result.answer !== Answer.ACCEPTED) same('answer', Answer[entry.answer], Answer[result.answer]);
  if (result.answer === Answer.APPROVED) same('reference', entry.reference, result.reference);
  if (result.answer !== Answer.ACCEPTED && result.actedAt) {
    same('acted_at', entry.actedAt && timestampMs(entry.actedAt), timestampMs(result.actedAt));
  }
  if (request.authorizationRequestId)
    same('authorization', entry.authorizationRequestId, request.authorizationRequestId);
  if (request.captureRequestId) same('capture', entry.captureRequestId, request.captureRequestId);
  if (request.amount !== undefined) same('amount', entry.amount, request.amount);
  if (request.currency !== undefined) same('currency', entry.currency, request.currency);
  if (method !== 'void') same('merchant', entry.merchantId, request.merchantId);
  if (method === 'void' && result.amountReleased !== undefined && result.answer === Answer.APPROVED) {
    same('amount', entry.amount, result.amountReleased);
  }
  return found;
}
