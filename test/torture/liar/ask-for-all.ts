/** What the merchant asks for in a round. */
import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import type { Shop } from '../../services/core/shop.ts';
import { confirm } from '../../services/sandbox/checkout/browse.ts';

/** Of the holds that are placed before anything is lied about. */
const TOKENS = [
  ...(['ok', 'ok', 'ok', 'capture_accepted', 'reversed', 'ended_early', 'void_accepted'] as const),
  ...(['ok', 'ok', 'ok', 'increment_accepted', 'ok', 'decrease_accepted'] as const),
];

/** Of holds that renew themselves while everything is lied about, a day long. */
const KEPT_TOKENS = ['guarantee_short', 'guarantee_short', 'guarantee_short', 'renewal_accepted'] as const;
const DAY_MS = 86_400_000;

/**
 * What is there before anything is lied about: a hold for each thing that is done with one, captures to refund, and
 * holds that are kept from `nowMs` on.
 */
export async function prepare(victim: Shop, nowMs: number) {
  const keepUntil = timestampFromMs(nowMs + DAY_MS);
  return {
    kept: await Promise.all(
      KEPT_TOKENS.map((tokenId) => victim.hold({ tokenId: `tok_sandbox_${tokenId}`, keepUntil })),
    ),
    holds: await Promise.all(TOKENS.map((tokenId) => victim.hold({ tokenId: `tok_sandbox_${tokenId}` }))),
    capture: await victim.captured(),
    returning: await victim.captured(10_000n, { tokenId: 'tok_sandbox_refund_returned', currency: 'JPY' }),
  };
}

/**
 * One operation of each kind, and of each way to end. Whatever the answer is, it must be one that is documented.
 * Returns the final answers, by request.
 */
export async function askForAll(
  victim: Shop,
  { holds, kept, capture, returning }: Awaited<ReturnType<typeof prepare>>,
): Promise<Map<string, 'OK' | 'KO'>> {
  const [captured, released, , accepted, reversed, ended, voided, ...others] = holds.map(
    (hold) => hold ?? assert.fail(),
  );
  const [incremented, extended, renewed, incrementing, decreased, decreasing] = others;
  const [, keptCaptured, keptReleased] = kept;
  const calls = [
    victim.capture(keptCaptured as never, 4_000n),
    victim.release(keptReleased as never),
    victim.place({ tokenId: 'tok_sandbox_challenge', ...PRESENT }),
    victim.place({ tokenId: 'tok_sandbox_challenge_failed', ...PRESENT }),
    victim.place(),
    victim.place({ tokenId: 'tok_sandbox_declined' }),
    victim.place({ tokenId: 'tok_sandbox_accepted' }),
    victim.checkout(),
    victim.oct(),
    victim.oct({ tokenId: 'tok_sandbox_accepted' }),
    victim.capture(captured as never, 4_000n),
    victim.capture(accepted as never, 4_000n),
    victim.capture(reversed as never, 4_000n),
    victim.capture(ended as never, 1_000n),
    victim.release(released as never),
    victim.release(voided as never),
    victim.increment(incremented as never, 1_000n),
    victim.increment(incrementing as never, 1_000n),
    victim.releasePart(decreased as never, 1_000n),
    victim.releasePart(decreasing as never, 1_000n),
    victim.extend(extended as never),
    victim.renew(renewed as never),
    victim.refund(capture, 3_000n),
    victim.refund(capture, 2_000n),
    victim.refund(returning, 3_000n, { currency: 'JPY' }),
    victim.oct({ tokenId: 'tok_sandbox_oct_returned', currency: 'JPY' }),
    victim.oct({ tokenId: 'tok_sandbox_oct_returned_in_part' }),
    victim.place({ currency: 'JPY' }),
  ];
  const answered = new Map<string, 'OK' | 'KO'>();
  for (const call of await Promise.allSettled(calls)) {
    if (call.status === 'fulfilled') {
      const { requestId, state, nextAction } = resultIn(call.value);
      // The customer's page may be down.
      if (nextAction) await confirm(nextAction.url, 'pass').catch(() => undefined);
      if (state === OperationState.OK) answered.set(requestId, 'OK');
      continue;
    }
    const { code } = call.reason as { code: number };
    assert([FAILED_PRECONDITION, ABORTED].includes(code), `an answer that is not documented: ${call.reason}`);
  }
  return answered;
}

const PRESENT = { customerPresent: true, returnUrl: 'https://shop.example/done' };

interface Result {
  readonly requestId: string;
  readonly state: OperationState;
  readonly nextAction?: { readonly url: string } | undefined;
}

/** The operation that an answer is about. */
function resultIn(answer: object): Result {
  const { capture, refund, oct, preauthorization, ...own } = answer as Record<string, Result>;
  return capture ?? refund ?? oct ?? ({ ...preauthorization, ...own } as Result);
}

const [FAILED_PRECONDITION, ABORTED] = [9, 10];
