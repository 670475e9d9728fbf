/**
 * What PostgreSQL alone does for a hold, its capture and their deliveries: the statements of core and worker, 32 of
 * each at a time.
 */
import { createHash, randomInt } from 'node:crypto';
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
const USERS = 100_000;

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
  const now = new Date();
  const at = now.toISOString();
  const sent = { merchantId, amount: AMOUNT, currency: 'EUR', processor: 'p', processorAccount: '' };
  const times = { createdAt: now, inquireAt: now };
  const pairs = Array.from({ length: AT_ONCE }, () => ({ hold: uuidv7(), capture: uuidv7() }));
  const resultOf = (requestId: string, kind: 'HOLD' | 'CAPTURE', holdRequestId?: string) => ({
    subjectId: requestId,
    requestId,
    kind,
    status: 'OK' as const,
    merchantId,
    currency: 'EUR',
    holdRequestId,
    statusInfo: kind === 'HOLD' ? ('authorized' as const) : ('captured' as const),
    amount: AMOUNT,
    terminalId: 't1',
    userId: 'u1',
    processorReference: 'ref',
    finalStateDate: now,
    delivery: { id: uuidv7(), endpointKind: 'webhook' as const, kind: 'payment' as const, body: BODY },
  });
  await insertHolds(
    query,
    pairs.map(({ hold }) => ({
      ...sent,
      ...times,
      ...callOf('HOLD', hold),
      terminalId: 't1',
      tokenId: 'tok',
      phase: 'AUTHORIZING',
      idHash: hashOf(hold),
      idKey: 'k1',
      allowMultipleCaptures: false,
      customerPresent: true,
      notifyHolds: true,
      holdPeriodS: 604_800,
      saveCard: false,
      userId: `u${randomInt(USERS)}`,
      merchantReference: `order-${hold.slice(-9)}`,
    })),
  );
  const card = { brand: 'visa', last4: '4242', expiryMonth: 12, expiryYear: 2030 };
  await settleHolds(
    query,
    pairs.map(({ hold }) => ({
      requestId: hold,
      ok: true,
      at,
      processorReference: 'ref',
      card,
      expiresAt: at,
      operation: resultOf(hold, 'HOLD'),
    })),
  );
  const asked = pairs.map(({ hold, capture }) => ({ requestId: capture, idHash: hashOf(hold) }));
  const subjects = await readSubjects(query, asked);
  await storeSubmissions(
    query,
    pairs.map(({ hold, capture }, place) => ({
      ...sent,
      ...times,
      ...callOf('CAPTURE', capture),
      kind: 'CAPTURE' as const,
      holdRequestId: hold,
      version: subjects.get(asked[place] as (typeof asked)[number])?.hold?.version,
      closing: true,
      finalCapture: true,
      reported: false,
    })),
  );
  const holds = await readHoldsOfOpen(
    query,
    pairs.map(({ capture }) => capture),
  );
  await settleSubmissions(
    query,
    pairs.map(({ hold, capture }) => ({
      requestId: capture,
      ok: true,
      at,
      processorReference: 'ref',
      operation: resultOf(capture, 'CAPTURE', hold),
      holdRequestId: hold,
      version: holds.get(capture)?.version ?? '',
      status: 'CAPTURED' as const,
      amount: AMOUNT,
      captured: AMOUNT,
      inFlight: 0n,
      remaining: 0n,
      released: 0n,
      reversed: 0n,
      refunded: 0n,
      refunding: 0n,
      closing: false,
    })),
  );
  for (let half = 0; half < 2; half++) {
    const taken = await takeDue(query, [{ merchantId, kind: 'webhook', cap: 200, room: AT_ONCE }], new Date());
    await recordAttempts(
      query,
      taken.map(({ id }) => ({
        deliveryId: id,
        number: 1,
        startedAt: at,
        latencyMs: 3,
        httpStatus: 200,
        url: 'https://shop.example/hooks',
        responseHead: 'HTTP/1.1 200 OK',
        state: 'DELIVERED' as const,
        endedAt: at,
      })),
    );
  }
}

/** As long as a real one's. */
const BODY = JSON.stringify({ about: 'x'.repeat(450) });

const callOf = <Method>(method: Method, requestId: string) => ({
  requestId,
  method,
  fingerprint: hashOf(requestId).toString('hex'),
});

function hashOf(requestId: string): Buffer {
  return createHash('sha256').update(requestId).digest();
}

async function walPosition({ query }: Database): Promise<bigint> {
  const text = `select (pg_current_wal_insert_lsn() - '0/0')::bigint as position`;
  const [row] = await query<{ position: bigint }>({ name: '', text }, []);
  return row?.position ?? 0n;
}
