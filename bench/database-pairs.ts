/**
 * What PostgreSQL alone does for a hold, its capture and their deliveries: the statements of core and worker, 32 of
 * each at a time.
 */
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../services/core/storage/database.ts';
import { recordAttempts } from '../services/core/storage/delivery/record-attempts.ts';
import { takeDue } from '../services/core/storage/delivery/take-due.ts';
import { insertHolds } from '../services/core/storage/hold/insert-holds.ts';
import { readHoldsOfOpen, readSubjects } from '../services/core/storage/hold/read-holds.ts';
import { settleHolds } from '../services/core/storage/hold/settle-holds.ts';
import { settleSubmissions } from '../services/core/storage/submission/settle-submissions.ts';
import { storeSubmissions } from '../services/core/storage/submission/store-submissions.ts';

const AT_ONCE = 32;
const AMOUNT = 10_000n;

/** Costs of a pair. `walBytes` includes pages that are written whole after a checkpoint. */
export interface PairCost {
  readonly ms: number;
  readonly walBytes: number;
}

/**
 * Makes pairs of a merchant that has a webhookUrl, `rounds` times 32, one statement after the other on one connection.
 */
export async function measurePairs(database: Database, merchantId: string, rounds: number): Promise<PairCost> {
  const before = await walPosition(database);
  const startedMs = performance.now();
  for (let round = 0; round < rounds; round++) await makePairs(database, merchantId);
  const ms = performance.now() - startedMs;
  const walBytes = Number((await walPosition(database)) - before);
  return { ms: ms / rounds / AT_ONCE, walBytes: walBytes / rounds / AT_ONCE };
}

async function makePairs({ query }: Database, merchantId: string): Promise<void> {
  const at = new Date().toISOString();
  const sent = { merchantId, amount: String(AMOUNT), currency: 'EUR', processor: 'p', processorAccount: '' };
  const times = { createdAt: at, inquireAt: at };
  const pairs = Array.from({ length: AT_ONCE }, () => ({ hold: uuidv7(), capture: uuidv7() }));
  const resultOf = (requestId: string, kind: 'HOLD' | 'CAPTURE', holdRequestId?: string) => ({
    ...{ subjectId: requestId, requestId, kind, status: 'OK' as const, merchantId, currency: 'EUR', holdRequestId },
    ...{ statusInfo: kind === 'HOLD' ? ('authorized' as const) : ('captured' as const), amount: String(AMOUNT) },
    ...{ terminalId: 't1', userId: 'u1', processorReference: 'ref', finalStateDate: at },
    delivery: { id: uuidv7(), endpointKind: 'webhook' as const, kind: 'payment' as const, body: BODY },
  });
  await insertHolds(
    query,
    pairs.map(({ hold }) => ({
      ...{ ...sent, ...times, requestId: hold, terminalId: 't1', userId: 'u1', tokenId: 'tok', phase: 'AUTHORIZING' },
      ...{ idHash: hashOf(hold), idCiphertext: hashOf(hold).repeat(2), allowMultipleCaptures: false },
      ...{
        customerPresent: true,
        notifyHolds: true,
        holdPeriodS: 604_800,
        saveCard: false,
        merchantReference: `order-${hold.slice(-9)}`,
      },
    })),
  );
  const card = { brand: 'visa', last4: '4242', expiryMonth: 12, expiryYear: 2030 };
  await settleHolds(
    query,
    pairs.map(({ hold }) => ({
      ...{ requestId: hold, ok: true, at, processorReference: 'ref', card, expiresAt: at },
      operation: resultOf(hold, 'HOLD'),
    })),
  );
  const subjects = await readSubjects(
    query,
    pairs.map(({ hold, capture }) => ({ requestId: capture, idHash: Buffer.from(hashOf(hold), 'hex') })),
  );
  await storeSubmissions(
    query,
    pairs.map(({ hold, capture }, place) => ({
      ...{ ...sent, ...times, requestId: capture, kind: 'CAPTURE' as const, holdRequestId: hold },
      ...{ version: subjects[place]?.hold?.version, closing: true, finalCapture: true },
    })),
  );
  const holds = await readHoldsOfOpen(
    query,
    pairs.map(({ capture }) => capture),
  );
  await settleSubmissions(
    query,
    pairs.map(({ hold, capture }) => ({
      ...{ requestId: capture, ok: true, at, processorReference: 'ref', operation: resultOf(capture, 'CAPTURE', hold) },
      ...{ holdRequestId: hold, version: holds.get(capture)?.version ?? '', status: 'CAPTURED' as const },
      ...{ amount: AMOUNT, captured: AMOUNT, inFlight: 0n, remaining: 0n, released: 0n, reversed: 0n },
      ...{ refunded: 0n, refunding: 0n, closing: false },
    })),
  );
  for (let half = 0; half < 2; half++) {
    const taken = await takeDue(query, [{ merchantId, kind: 'webhook', cap: 200, room: AT_ONCE }], new Date());
    await recordAttempts(
      query,
      taken.map(({ id }) => ({
        ...{
          deliveryId: id,
          number: 1,
          startedAt: at,
          latencyMs: 3,
          httpStatus: 200,
          url: 'https://shop.example/hooks',
        },
        ...{ responseHead: 'HTTP/1.1 200 OK', state: 'DELIVERED' as const, endedAt: at },
      })),
    );
  }
}

/** As long as a real one's. */
const BODY = JSON.stringify({ about: 'x'.repeat(450) });

function hashOf(requestId: string): string {
  return requestId.replaceAll('-', '').repeat(2);
}

async function walPosition({ query }: Database): Promise<bigint> {
  const text = `select (pg_current_wal_insert_lsn() - '0/0')::bigint as position`;
  const [row] = await query<{ position: bigint }>({ name: '', text }, []);
  return row?.position ?? 0n;
}
