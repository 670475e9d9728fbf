/** What one merchant, or one process, may do to the others. */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { openOracle } from '../../../services/sandbox/ledger/oracle.ts';
import type { Deployment, Merchant } from '../deployment/deployment.ts';
import type { Caller, Heard } from '../obedient/caller.ts';
import { dropStreams } from '../obedient/load-faults.ts';

export interface Disturbed {
  readonly deployment: Deployment;
  readonly caller: Caller;
  /** Who disturbs. */
  readonly noisy: Merchant;
}

export interface Disturbance {
  readonly name: string;
  /** How much longer a neighbour may wait, milliseconds. */
  readonly allowedMs: number;
  /** The neighbour calls a gateway that knows only the core that is left alone. */
  readonly isBeside?: boolean;
  /** Load that is there without the disturbance, too. */
  readonly capturesPerSecond?: number;
  /** Disturbs and mends. Answers what happened. */
  run(disturbed: Disturbed): Promise<string>;
}

const SECOND_MS = 1_000;
const LOCKED_MS = 10_000;

const flood: Disturbance = {
  name: '300 captures/s of one key on one hold, 10 s',
  allowedMs: SECOND_MS,
  async run(disturbed) {
    const { requestId, preauthorizationId } = (await place(disturbed)).body;
    const answers = await captureAtRate(disturbed, [preauthorizationId], 300, delay(10_000));
    return `${tally(answers)}; ${charged(disturbed, requestId)} charged`;
  },
};

const lockedWhileSettled: Disturbance = {
  name: 'one row locked while its capture settles, 10 s',
  allowedMs: SECOND_MS,
  async run(disturbed) {
    const { requestId, preauthorizationId } = (await place(disturbed, 'tok_sandbox_slow')).body;
    const capturing = capture(disturbed, preauthorizationId);
    // The processor answers after 2 s; until then the reservation is committed and nothing is settled.
    await delay(700);
    await withRowsLocked(disturbed.deployment, [requestId], () => delay(LOCKED_MS));
    return tally([await capturing]);
  },
};

const lockedWhileReserved: Disturbance = {
  name: 'two rows locked while they are reserved, 10 s',
  allowedMs: SECOND_MS,
  async run(disturbed) {
    const holds = await Promise.all([place(disturbed), place(disturbed)]);
    const rows = holds.map(({ body }) => body.requestId);
    return withRowsLocked(disturbed.deployment, rows, async () => {
      // Several each, so that both cores wait for both rows.
      const handles = [...holds, ...holds, ...holds, ...holds].map(({ body }) => body.preauthorizationId);
      const capturing = handles.map((handle) => capture(disturbed, handle));
      await delay(LOCKED_MS);
      return capturing;
    })
      .then((capturing) => Promise.all(capturing))
      .then(tally);
  },
};

const streams: Disturbance = {
  name: '500 event streams opened and dropped a second, 15 s',
  allowedMs: SECOND_MS,
  async run({ deployment, noisy }) {
    const { opened, dropped, refused } = await dropStreams(deployment, noisy, 15_000);
    return `${opened} opened, ${dropped} dropped after their head, ${refused} refused`;
  },
};

const deadlines: Disturbance = {
  name: '3 000 captures at once on a row locked for 20 s, so that their deadlines expire together',
  allowedMs: SECOND_MS,
  async run(disturbed) {
    const { requestId, preauthorizationId } = (await place(disturbed)).body;
    // More than a thousand for each core.
    const capturing = Array.from({ length: 3_000 }, () => capture(disturbed, preauthorizationId));
    await withRowsLocked(disturbed.deployment, [requestId], () => delay(20_000));
    return `${tally(await Promise.all(capturing))}; ${charged(disturbed, requestId)} charged so far`;
  },
};

function coreFrozen(isBeside: boolean): Disturbance {
  return {
    name: `one of two cores frozen under 150 captures/s, 10 s; seen through ${isBeside ? 'the other core' : 'both'}`,
    allowedMs: 3 * SECOND_MS,
    isBeside,
    capturesPerSecond: 150,
    async run({ deployment }) {
      const [core] = deployment.cores;
      for (let tries = 1; ; tries++) {
        const thaw = await core?.freeze();
        const holders = (await deployment.sql(LOCK_HOLDERS)).length;
        if (holders === 0 && tries < 60) {
          thaw?.();
          await delay(50);
          continue;
        }
        await delay(10_000);
        thaw?.();
        return `frozen ${tries} times until it held a lock in an idle transaction: ${holders > 0 ? 'it did' : 'it never did'}`;
      }
    },
  };
}

/** Each in turn, on one deployment. */
export const DISTURBANCES: readonly Disturbance[] = [
  flood,
  lockedWhileSettled,
  lockedWhileReserved,
  streams,
  coreFrozen(true),
  coreFrozen(false),
  deadlines,
];

/** Captures of the noisy merchant at a rate, spread over holds, until the end; settles with the answers when all are there. */
export async function captureAtRate(
  disturbed: Disturbed,
  handles: readonly string[],
  ratePerSecond: number,
  end: Promise<unknown>,
): Promise<Heard[]> {
  const sent: Promise<Heard>[] = [];
  let isOver = false;
  void end.then(() => {
    isOver = true;
  });
  const startedMs = performance.now();
  while (!isOver) {
    while (sent.length < ((performance.now() - startedMs) / 1_000) * ratePerSecond) {
      sent.push(capture(disturbed, handles[sent.length % handles.length] as string));
    }
    await delay(5);
  }
  return Promise.all(sent);
}

export function place({ caller, noisy }: Disturbed, tokenId = 'tok_sandbox_ok'): Promise<Heard> {
  const body = { tokenId, amount: 10_000_000, currency: 'EUR', terminalId: 'T1', userId: 'u' };
  return caller.send({ apiKey: noisy.apiKey, path: '/preauthorization', body });
}

function capture({ caller, noisy }: Disturbed, preauthorizationId: string): Promise<Heard> {
  const body = { preauthorizationId, amountToCapture: 1 };
  return caller.send({ apiKey: noisy.apiKey, path: '/preauthorization/authorization', body });
}

async function withRowsLocked<T>({ database }: Deployment, rows: string[], act: () => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('select from hold where request_id = any($1::uuid[]) for update', [rows]);
    return await act();
  } finally {
    await client.end();
  }
}

/** Sessions that hold an advisory lock and wait for their client. */
const LOCK_HOLDERS = `select from pg_locks join pg_stat_activity using (pid)
  where locktype = 'advisory' and granted and state = 'idle in transaction'`;

/** Captures of a hold that the processor performed. */
function charged({ deployment }: Disturbed, holdRequestId: string): number {
  const oracle = openOracle(deployment.ledgerFile);
  try {
    return oracle.entries(holdRequestId).filter(({ kind, answer }) => kind === 'capture' && answer === Answer.APPROVED)
      .length;
  } finally {
    oracle.close();
  }
}

/** How often each status was answered, and after how long at most. */
function tally(answers: readonly Heard[]): string {
  const byStatus = Map.groupBy(answers, ({ status, body }) => `${status || 'broken'} ${body.code ?? ''}`.trim());
  const slowestMs = Math.max(...answers.map(({ tookMs }) => tookMs));
  const counts = [...byStatus].map(([status, some]) => `${some.length} × ${status}`);
  return `${counts.join(', ')}; the last after ${(slowestMs / 1_000).toFixed(1)} s`;
}
