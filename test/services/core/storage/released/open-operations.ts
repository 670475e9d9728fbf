/** Leaves operations of every kind open, in every way in which one stays open. */
import assert from 'node:assert/strict';
import type { CrashPoint } from '../../../../../services/core/domain/crash-points.ts';
import type { TestDatabase } from '../../../../database.ts';
import { accepted, approved, atWork, type FakeProcessor, startFakeProcessor } from '../../fake-processor.ts';
import { ABLE, LOSSES, RUNS } from '../../kinds/samples.ts';
import { openMerchant, openShop, sql } from '../../shop.ts';
import { openStage, type Stage } from '../../stage.ts';

/** The key of the rows that are recorded; a new stage that reads them needs it. */
export const ENCRYPTION_KEYS = `released:${Buffer.alloc(32, 7).toString('base64')}`;

/** One that is open. */
export interface OpenOperation {
  /** NEEDS_REVIEW: after the last inquiry; STORED: the process died before it was sent. */
  readonly how: 'UNKNOWN' | 'NEEDS_REVIEW' | 'ACCEPTED' | 'STORED';
  /** A key of LOSSES, or of RUNS for what was stored. */
  readonly of: string;
  readonly requestId: string;
  /** Null for an OCT. */
  readonly holdRequestId: string | null;
  /** Its identifier at the processor. */
  readonly atProcessor: string;
}

/** Opens a stage with a scripted processor, and the shop of one merchant, on a new database or one with its rows. */
export async function openReleasedStage(database?: TestDatabase) {
  const processor = await startFakeProcessor();
  Object.assign(processor.is, { identity: 'released' });
  const crash: { at?: CrashPoint | undefined } = {};
  const reach = (point: CrashPoint) => {
    if (point !== crash.at) return;
    crash.at = undefined;
    throw new Error('died here');
  };
  const stage = await openStage({
    ...(database && { database }),
    processor: processor.address,
    environment: { ENCRYPTION_KEYS },
    reach,
  });
  const close = async () => {
    await stage.close();
    processor.close();
  };
  if (!database) await openMerchant(stage, 'acme');
  return { stage, processor, crash, close, shop: openShop(stage, 'acme') };
}

type Released = Awaited<ReturnType<typeof openReleasedStage>>;

/** Plays them. */
export async function leaveOpen(released: Released): Promise<OpenOperation[]> {
  const inReview = await lose(released, 'NEEDS_REVIEW');
  released.processor.says.inquire = () => atWork;
  // Until after the last inquiry.
  for (let times = 0; times < 40; times++) {
    released.stage.clock.advance(6 * 3_600_000);
    await released.stage.inquire();
  }
  return [
    ...inReview,
    ...(await lose(released, 'ACCEPTED')),
    ...(await lose(released, 'UNKNOWN')),
    ...(await store(released)),
  ];
}

/** One of each kind whose answer is lost, or only says that it was accepted. */
async function lose({ stage, processor, shop }: Released, how: OpenOperation['how']): Promise<OpenOperation[]> {
  const open: OpenOperation[] = [];
  for (const kind of Object.keys(LOSSES) as (keyof typeof LOSSES)[]) {
    approveAll(processor);
    if (how === 'ACCEPTED') acceptLost(processor, () => accepted(stage.clock.now(), 3_600_000));
    const lost = LOSSES[kind].lose({ shop, processor });
    // Its assertion of a lost answer fails when the answer was that it is accepted.
    const { requestId } = how === 'ACCEPTED' ? await lost.catch(() => newest(stage, 'submission')) : await lost;
    open.push(await openOf(stage, { how, of: kind, requestId }));
  }
  return open;
}

/** One of each kind that a process stored before it died. */
async function store({ stage, processor, crash, shop }: Released): Promise<OpenOperation[]> {
  const open: OpenOperation[] = [];
  for (const point of Object.keys(RUNS) as CrashPoint[]) {
    if (!point.endsWith(' stored') || RUNS[point].repeats === '') continue;
    approveAll(processor);
    const { call } = await RUNS[point].at({ shop, stage });
    crash.at = point;
    await call(shop).catch(() => undefined);
    assert.equal(crash.at, undefined, point);
    const { requestId } = await newest(stage, point.startsWith('hold') ? 'hold' : 'submission');
    open.push(await openOf(stage, { how: 'STORED', of: point, requestId }));
  }
  return open;
}

function approveAll(processor: FakeProcessor): void {
  const names = ['capture', 'void', 'refund', 'credit'];
  const changes = ['incrementAuthorization', 'decreaseAuthorization', 'extendAuthorization'];
  processor.says = Object.fromEntries([...names, ...changes].map((name) => [name, () => approved]));
  processor.says.authorize = () => ({ ...approved, capabilities: ABLE });
}

/** What loses an answer sets a script without one, which is replaced as it is set. */
function acceptLost(processor: FakeProcessor, accept: () => typeof approved): void {
  processor.says = new Proxy(processor.says, {
    set: (says, name, script) => Reflect.set(says, name, script() === undefined ? accept : script),
  });
}

async function newest(stage: Stage, table: 'hold' | 'submission'): Promise<{ requestId: string }> {
  const [row] = await sql<{ id: string }>(stage, `select max(request_id::text) as id from ${table}`, []);
  return { requestId: row?.id ?? assert.fail() };
}

async function openOf(
  stage: Stage,
  operation: Pick<OpenOperation, 'how' | 'of' | 'requestId'>,
): Promise<OpenOperation> {
  const text = `select request_id as hold, processor_request_id as at from hold where request_id = $1
    union all select hold_request_id, processor_request_id from submission where request_id = $1`;
  const [row] = await sql<{ hold: string | null; at: string | null }>(stage, text, [operation.requestId]);
  return { ...operation, holdRequestId: row?.hold ?? null, atProcessor: row?.at ?? operation.requestId };
}
