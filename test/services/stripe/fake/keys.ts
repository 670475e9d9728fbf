import { FakeError } from './fake-error.ts';

/** An answer as it is sent. */
export interface Reply {
  readonly status: number;
  readonly body: object;
}

interface Kept {
  readonly asked: string;
  readonly atS: number;
  /** Absent while its request is in progress. */
  reply?: Reply;
}

/** Stripe's idempotency keys of one account. */
export function openKeys(now: () => number) {
  const kept = new Map<string, Kept>();
  return {
    /** Begins a request under a key: returns the stored answer, or undefined when it is new. Throws FakeError. */
    begin(key: string, asked: string): Reply | undefined {
      const known = kept.get(key);
      // Stripe may prune keys that are a day old; the fake does so at once.
      if (!known || now() - known.atS > 24 * 60 * 60) {
        kept.set(key, { asked, atS: now() });
        return undefined;
      }
      if (known.asked !== asked) {
        const message =
          'Keys for idempotent requests can only be used with the same parameters they were first used with.';
        throw new FakeError(400, { type: 'idempotency_error', message });
      }
      if (known.reply) return known.reply;
      throw keyInUse();
    },
    has: (key: string) => kept.has(key),
    /** Stores an answer, or forgets a request that did not begin to act. */
    end(key: string, reply: Reply | undefined): void {
      const known = kept.get(key);
      if (known && reply) known.reply = reply;
      else kept.delete(key);
    },
  };
}

/** Another request under the same key is in progress. */
export function keyInUse(): FakeError {
  const message = 'There is currently another in-progress request using this Idempotent Key.';
  return new FakeError(409, { type: 'idempotency_error', code: 'idempotency_key_in_use', message });
}
