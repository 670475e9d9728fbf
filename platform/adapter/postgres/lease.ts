import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { OutcomeUnknown } from '../serve.ts';
import type { Database } from './database.ts';

/** A lease is renewed while its operation lasts, so it ends by itself soon after its process died or froze. */
const LEASE_MS = 3_000;
const POLL_MS = 50;
/** Core may have given up by then, and fenced the identifier: what comes later is refused. */
const LONG_WAIT_MS = 15_000;

/** One operation at a time on each authorization, in all processes. */
export interface Leases {
  /** Runs alone on an authorization. Throws OutcomeUnknown, without running, when others take longer than 15 s. */
  alone<T>(authorizationRequestId: string, act: () => Promise<T>): Promise<T>;
  /**
   * Runs alone on an authorization; waits up to `waitMs` for others. Returns undefined, without running, when they take
   * longer. What a process that died or froze left behind is for the next one to find out, so a lease that ends early
   * harms nothing: all that is sent under an identifier is sent under one idempotency key.
   */
  run<T>(
    authorizationRequestId: string,
    waitMs: number,
    act: () => Promise<T>,
  ): Promise<{ readonly done: T } | undefined>;
}

/** The leases of a ledger: on the rows of its table `entry`, by the columns `lease_by` and `lease_until`. */
export function openLeases({ query }: Database, leaseMs = LEASE_MS): Leases {
  return {
    async alone(requestId, act) {
      const turn = await this.run(requestId, LONG_WAIT_MS, act);
      if (!turn) throw new OutcomeUnknown('another call works on this authorization');
      return turn.done;
    },
    async run(requestId, waitMs, act) {
      const holder = randomUUID();
      const deadlineMs = performance.now() + waitMs;
      while ((await query(TAKE, [requestId, holder, leaseMs])).length === 0) {
        if (performance.now() + POLL_MS > deadlineMs) return undefined;
        await delay(POLL_MS);
      }
      const renewNow = () => void query(RENEW, [requestId, holder, leaseMs]).catch(() => undefined);
      const renewing = setInterval(renewNow, leaseMs / 3);
      try {
        return { done: await act() };
      } finally {
        clearInterval(renewing);
        // One that is not given back ends by itself; what was done is stored, and is the answer.
        await query(GIVE, [requestId, holder]).catch(() => undefined);
      }
    },
  };
}

const TAKE = `UPDATE entry SET lease_by = $2, lease_until = now() + $3 * interval '1 ms'
  WHERE request_id = $1 AND (lease_until IS NULL OR lease_until < now()) RETURNING request_id`;
const RENEW = `UPDATE entry SET lease_until = now() + $3 * interval '1 ms' WHERE request_id = $1 AND lease_by = $2`;
const GIVE = 'UPDATE entry SET lease_by = NULL, lease_until = NULL WHERE request_id = $1 AND lease_by = $2';
