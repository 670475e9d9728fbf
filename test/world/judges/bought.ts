/** What buyers were told, against the books and the processor's ledger. */
import assert from 'node:assert/strict';
import type { Entry } from '../../../services/sandbox/ledger/entry.ts';
import type { Bought, Buyers } from '../merchants/buyers.ts';
import type { Scene } from '../play.ts';
import type { OneCore } from '../stage/one-core.ts';
import { leftOf, readLedger } from './ledger.ts';

type Told = Scene<OneCore, Buyers>;

/**
 * Captures not answered as done are repeated under their keys: those done before return their results, and nothing is
 * done twice.
 */
export async function answeredAgain({ merchants }: Told): Promise<string> {
  const open = wantedOf(merchants.bought).filter(({ acknowledged }) => acknowledged === undefined);
  await Promise.all(open.map((want) => want.ask()));
  const now = open.filter(({ acknowledged }) => acknowledged !== undefined).length;
  return `${open.length} captures without a good answer were asked for again: ${now} are done`;
}

/** What was acknowledged is charged, nothing is charged twice or over its hold, and what ends by itself has ended. */
export async function charged({ stage, merchants: { bought } }: Told): Promise<string> {
  const captures = await stage.sql<Capture>(CAPTURES);
  const identifiers = new Map((await stage.sql<Sent>(SENT)).map((sent) => [sent.request_id, sent.identifier]));
  const renewed = new Set((await stage.sql<{ renews: string }>(RENEWED)).map(({ renews }) => renews));
  const { entries, firstOf } = readLedger(stage.ledgerFile);
  const byIdentifier = new Map(entries.map((entry) => [entry.requestId, entry]));
  const entryOf = (requestId: string) => byIdentifier.get(identifiers.get(requestId) ?? '');
  const states = new Map(captures.map(({ request_id, state }) => [request_id, state]));
  const acknowledged = wantedOf(bought).flatMap(({ acknowledged: id }) => (id === undefined ? [] : [id]));
  assert(acknowledged.length > 0, 'nothing was acknowledged, so nothing is shown');
  for (const id of acknowledged) {
    assert.equal(states.get(id), 'OK', `capture ${id} was acknowledged`);
    assert.equal(entryOf(id)?.answer, 1, `capture ${id} was acknowledged and charged`);
  }
  const byHold = Map.groupBy(captures, ({ hold_request_id }) => hold_request_id);
  const authorizations = entries.filter(({ kind }) => kind === 'authorization');
  const chains = Map.groupBy(authorizations, (entry) => firstOf(entry).requestId);
  for (const each of bought) {
    const { requestId } = each;
    const chain = chains.get(identifiers.get(requestId) ?? '') ?? [];
    checkHold(each, chain, byHold.get(requestId) ?? [], renewed.has(requestId));
  }
  const byThemselves = bought.filter(({ plan }) => plan !== 'nothing').length;
  const renewals = authorizations.length - chains.size;
  assert(renewals > 0, 'no kept hold renewed itself, so nothing is shown');
  return (
    `${bought.length} holds, ${captures.length} captures, ${acknowledged.length} acknowledged: none lost, none ` +
    `twice, none over its hold; ${byThemselves} holds were captured, ended or released by themselves, or renewed ` +
    `${renewals} times`
  );
}

const wantedOf = (bought: readonly Bought[]) => bought.flatMap(({ wanted }) => wanted);

function checkHold(
  { requestId, amount, plan, wanted }: Bought,
  chain: readonly Entry[],
  own: readonly Capture[],
  isRenewed: boolean,
): void {
  const { voided } = chain[0] ?? assert.fail(`hold ${requestId} is not at the processor`);
  const captured = chain.reduce((sum, authorization) => sum + authorization.captured, 0);
  assert(leftOf(chain).length <= 1, `hold ${requestId} has several authorizations left`);
  assert(captured <= amount, `hold ${requestId} was charged ${captured}`);
  // What it captures by itself is made again when it never arrived.
  const done = own.filter(({ state }) => plan !== 'captured' || state === 'OK').length;
  const most = wanted.length + (plan === 'captured' ? 1 : 0);
  assert(done <= most, `hold ${requestId} was captured more often than wanted`);
  if (plan === 'captured') assert.equal(captured, amount, `hold ${requestId} captures what remains`);
  if (plan === 'expired') assert.equal(captured + voided, amount, `hold ${requestId} ends`);
  if (plan === 'renewed' && isRenewed) assert.equal(captured + voided, amount, `${requestId} is released`);
}

interface Capture {
  readonly request_id: string;
  readonly hold_request_id: string;
  readonly state: string;
}

interface Sent {
  readonly request_id: string;
  readonly identifier: string;
}

const CAPTURES = "select request_id, hold_request_id, state from submission where kind = 'CAPTURE'";
const RENEWED = "select renews from hold where phase = 'AUTHORIZED' and renews is not null";
const SENT = `select request_id, coalesce(processor_request_id, request_id) as identifier from hold
  union all select request_id, coalesce(processor_request_id, request_id) from submission`;
