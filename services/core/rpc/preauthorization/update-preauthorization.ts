import type { UpdatePreauthorizationRequest } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { endTimes, judgeTimes, judgeUnsignedCapture, keptTime, NEEDS_TOKEN } from '../../domain/chosen-times.ts';
import { endOf } from '../../domain/hold-rules.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import type { Processor } from '../../processor/processor.ts';
import { demandInTime } from '../../storage/bound-change.ts';
import { changeTerms, type Terms } from '../../storage/hold/change-terms.ts';
import type { HoldRow } from '../../storage/hold/hold-row.ts';
import { type ReadHold, readHolds } from '../../storage/hold/read-holds.ts';
import { reconcilingSince } from '../../storage/reconciling.ts';
import type { Core, Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { invalidField, refusalOf } from '../refuse.ts';
import { patienceKey } from '../server/call-patience.ts';
import { isInScope, scopeOfChange } from '../server/caller.ts';
import { contractOf, dateOf, FieldCheck, refuseReference } from '../server/check-fields.ts';
import { presentHold } from './present-hold.ts';

/**
 * Changes the purpose of a hold, or the time of its capture or end. It waits for its turn among the writes on the hold.
 * When another core writes first, it is judged again.
 */
export const updatePreauthorization: Method<'updatePreauthorization'> = async (core, request, context) => {
  const merchantId = scopeOfChange(context, request.merchantId);
  const named = fieldsOf(request);
  const hold = await ownHold(core, request.requestId, merchantId);
  const patience = context.values.get(patienceKey);
  return core.books.changeHold(hold.idHash, () => update(core, request, named), patience);
};

async function ownHold({ database: { query } }: Core, requestId: string, merchantId?: string): Promise<ReadHold> {
  const [hold] = isUuid(requestId) ? await readHolds(query, [requestId]) : [];
  if (!hold || !isInScope(hold, merchantId)) throw refusalOf('PREAUTHORIZATION_NOT_FOUND');
  return hold;
}

async function update(core: Core, request: UpdatePreauthorizationRequest, named: Names) {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const hold = await ownHold(core, request.requestId);
    await refuseReference(core, () => hold.merchantId, request.merchantReference);
    const terms = changed(hold, request, named);
    await judge(core, hold, terms, named);
    if (await changeTerms(core.database.query, hold, terms, core.clock())) {
      return { preauthorization: presentHold({ ...hold, ...terms }, core.cipher) };
    }
    await demandInTime(core.database.query);
  }
  throw new HoldfastError('UNAVAILABLE', 'the hold changes all the time; nothing was stored', { retryAfterS: 1 });
}

const MOST_TRIES = 10;

type Names = ReadonlySet<string>;

const CHANGEABLE: Names = new Set([
  'capture_at',
  'release_at',
  'keep_until',
  'description',
  'merchant_reference',
  'metadata',
]);

/** The fields that the mask names. Throws INVALID_REQUEST for others, for none, and for texts with card numbers. */
function fieldsOf(request: UpdatePreauthorizationRequest): Names {
  const names = request.updateMask?.paths ?? [];
  const fields = new FieldCheck();
  if (names.length === 0) throw invalidField('update_mask', 'must name at least one field');
  for (const name of names)
    if (!CHANGEABLE.has(name)) fields.add('update_mask', 'names a field that cannot be changed');
  fields.text('description', request.description);
  fields.metadata(request.metadata);
  fields.refuse();
  return new Set(names);
}

/** The terms of a hold after the change. */
function changed(hold: HoldRow, request: UpdatePreauthorizationRequest, named: Names): Terms {
  const { description, merchantReference, metadata } = hold;
  const newMetadata = Object.keys(request.metadata).length > 0 ? { ...request.metadata } : null;
  const times = {
    captureAt: named.has('capture_at') ? (dateOf(request.captureAt) ?? null) : hold.captureAt,
    releaseAt: named.has('release_at') ? (dateOf(request.releaseAt) ?? null) : hold.releaseAt,
    keepUntil: named.has('keep_until') ? (dateOf(request.keepUntil) ?? null) : hold.keepUntil,
  };
  return {
    ...times,
    description: named.has('description') ? (request.description ?? null) : description,
    merchantReference: named.has('merchant_reference') ? (request.merchantReference ?? null) : merchantReference,
    metadata: named.has('metadata') ? newMetadata : metadata,
  };
}

/** Throws the refusal of a change of times: the hold has ended, or a time has fallen due or is out of range. */
async function judge(core: Core, hold: HoldRow, terms: Terms, named: Names): Promise<void> {
  if (!['capture_at', 'release_at', 'keep_until'].some((name) => named.has(name))) return;
  const now = core.clock();
  if (hold.phase === 'FAILED') throw refusalOf('HOLD_NOT_PLACED');
  // While the database is being reconciled nothing falls due, so that what a restore has lost can be said again.
  const isOverdue = dueOf(hold, now).length > 0 && (await reconcilingSince(core.database.query)) !== undefined;
  const ended = hold.phase === 'AUTHORIZED' ? endOf(isOverdue ? { ...hold, releaseAt: null } : hold, now) : undefined;
  if (ended && ended !== 'CAPTURE_IN_FLIGHT') throw refusalOf(ended);
  const due = dueOf(isOverdue ? { ...hold, captureAt: null, releaseAt: null } : hold, now);
  const violations = due
    .filter((name) => named.has(name))
    .map((field) => ({ field, description: 'has fallen due, and cannot be changed any more' }));
  if (violations.length > 0) {
    const names = violations.map(({ field }) => field).join(', ');
    throw new HoldfastError('TIME_OUT_OF_RANGE', `a time has fallen due: ${names}`, { violations });
  }
  if (named.has('keep_until')) demandKeepable(hold, terms, core.processors.of(hold));
  const periodEnd = hold.expiresAt ?? new Date(hold.createdAt.getTime() + hold.holdPeriodS * 1_000);
  const kept = named.has('keep_until') ? [keptTime(terms.keepUntil, now)] : [];
  // A time that has fallen due is no reason to refuse another change.
  const times = [...kept, ...endTimes(terms, periodEnd)].filter(({ field }) => !due.includes(field));
  const refusal = judgeTimes(times, now);
  if (refusal) throw refusal;
  if (!named.has('capture_at')) return;
  const unsigned = judgeUnsignedCapture(terms, await contractOf(core, hold.merchantId));
  if (unsigned) throw unsigned;
}

/** Only what a token has placed, at a processor that keeps what an authorization renews, can be renewed. */
function demandKeepable({ tokenId }: HoldRow, { keepUntil }: Terms, processor: Processor): void {
  if (keepUntil == null) return;
  if (tokenId == null) throw invalidField('keep_until', NEEDS_TOKEN);
  if (!processor.renews()) throw refusalOf('NOT_SUPPORTED');
}

/** The times of a hold that have fallen due; a capture that a worker has made is due by that worker's clock. */
function dueOf({ captureAt, releaseAt, autoCaptureCount }: HoldRow, now: Date): string[] {
  const isDue = (at: Date | null | undefined) => at != null && at <= now;
  return [
    ...(isDue(captureAt) || autoCaptureCount > 0 ? ['capture_at'] : []),
    ...(isDue(releaseAt) ? ['release_at'] : []),
  ];
}
