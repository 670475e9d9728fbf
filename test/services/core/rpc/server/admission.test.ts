import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { createContextValues } from '@connectrpc/connect';
import { PreauthorizationService } from '../../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { HoldfastError } from '../../../../../services/core/domain/refusal.ts';
import { admits } from '../../../../../services/core/rpc/server/admission.ts';
import { callerKey } from '../../../../../services/core/rpc/server/caller.ts';

describe('admits()', () => {
  const SILENT = { inFlight: () => undefined, refused: () => undefined };

  const contextValues = createContextValues().set(callerKey, { role: 'gateway' });

  /** Calls that are bounded, and run until they are ended. */
  function openCalls(most: number, observer: Parameters<typeof admits>[1] = SILENT) {
    const running = new Map<string, () => void>();
    const method = PreauthorizationService.method.getPreauthorization;
    const run = admits(
      most,
      observer,
    )(({ message }) => {
      const { merchantId } = message as { merchantId?: string };
      return new Promise((resolve) => running.set(merchantId ?? '', () => resolve({} as never)));
    });
    return {
      /** Begins a call of a merchant. Resolves with the code of its refusal, or with `admitted`. */
      async begin(merchantId: string): Promise<string> {
        const ended = run({ stream: false, method, message: { merchantId }, contextValues } as never).then(
          () => 'ended',
          codeOf,
        );
        return Promise.race([ended, turn('admitted')]);
      },
      /** Ends the newest call of a merchant. */
      async end(merchantId: string): Promise<void> {
        running.get(merchantId)?.();
        await turn();
      },
    };
  }

  function codeOf(error: unknown): string {
    assert(error instanceof HoldfastError);
    assert.equal(error.details.retryAfterS, 1);
    return error.code;
  }

  /** Begins calls of a merchant until one is refused. Returns how many were admitted. */
  async function fill({ begin }: ReturnType<typeof openCalls>, merchantId: string): Promise<number> {
    let count = 0;
    while ((await begin(merchantId)) === 'admitted') count += 1;
    return count;
  }

  it('gives one merchant half of the calls, and leaves the rest to others', async () => {
    const calls = openCalls(100);
    assert.equal(await fill(calls, 'flood'), 50);
    assert.equal(await calls.begin('flood'), 'RATE_LIMITED');
    assert.equal(await fill(calls, 'second'), 25);
    assert.equal(await calls.begin('quiet'), 'admitted');
  });

  it('refuses all when it is full', async () => {
    const calls = openCalls(3);
    for (const merchantId of ['a', 'b', 'c']) await calls.begin(merchantId);
    assert.equal(await calls.begin('d'), 'UNAVAILABLE');
    await calls.end('a');
    assert.equal(await calls.begin('d'), 'admitted');
  });

  it('counts what comes and goes', async () => {
    const counts: number[] = [];
    const refused: string[] = [];
    const calls = openCalls(2, { inFlight: (count) => counts.push(count), refused: (why) => refused.push(why) });
    for (const merchantId of ['a', 'a', 'b', 'c']) await calls.begin(merchantId);
    for (const merchantId of ['a', 'b']) await calls.end(merchantId);
    assert.deepEqual(counts, [1, 2, 1, 0]);
    assert.deepEqual(refused, ['MERCHANT', 'TOTAL']);
  });
});
