/** How the sandbox's test tokens and test cards behave (docs/product.md, "Sandbox"). */
import { Answer } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';

/** How one operation on a card goes. */
export interface Effect {
  readonly answer: Answer.APPROVED | Answer.DECLINED | Answer.NOT_PERFORMED;
  readonly errorCode: string;
  readonly errorMessage: string;
  /** No answer ever comes: lost `before` the processor acted (it never does), or `after` it did. */
  readonly silence?: 'before' | 'after';
}

/** How a card behaves over its life. */
export interface Behaviour {
  /** Authorizations and credits (OCT). */
  readonly placing: Effect;
  /** Captures of its authorizations. */
  readonly capturing: Effect;
  /** Every answer comes this much later. */
  readonly delayMs?: number;
  /** An authorization ends this long after it was made; absent = HOLD_PERIOD_MS. */
  readonly expiresAfterMs?: number;
  /** The card scheme takes each capture back this long after it. */
  readonly reversesAfterMs?: number;
}

/** Longest hold period an issuer grants; a contract's shorter one wins in core. */
export const HOLD_PERIOD_MS = 30 * 24 * 60 * 60 * 1000;

/** Done. */
export const APPROVED: Effect = { answer: Answer.APPROVED, errorCode: '', errorMessage: '' };
const usual: Behaviour = { placing: APPROVED, capturing: APPROVED };

function declined(errorCode: string, errorMessage: string): Effect {
  return { answer: Answer.DECLINED, errorCode, errorMessage };
}

/** Not done, for a reason that is not the card's. */
export function notPerformed(errorCode: string, errorMessage: string): Effect {
  return { answer: Answer.NOT_PERFORMED, errorCode, errorMessage };
}

/** Each behaviour by its name. `tok_sandbox_<name>` is a token that behaves so. */
export const BEHAVIOURS = {
  ok: usual,
  declined: { ...usual, placing: declined('do_not_honor', 'The issuer declined the card.') },
  insufficient_funds: { ...usual, placing: declined('insufficient_funds', 'The account has insufficient funds.') },
  invalid: { ...usual, placing: notPerformed('token_invalid', 'There is no such card token.') },
  processor_error: { ...usual, placing: notPerformed('processor_error', 'The processor could not do it.') },
  capture_declined: { ...usual, capturing: declined('capture_declined', 'The issuer declined the capture.') },
  capture_error: { ...usual, capturing: notPerformed('capture_error', 'The processor could not capture.') },
  timeout_applied: { ...usual, placing: { ...APPROVED, silence: 'after' } },
  timeout_lost: { ...usual, placing: { ...APPROVED, silence: 'before' } },
  capture_timeout_applied: { ...usual, capturing: { ...APPROVED, silence: 'after' } },
  capture_timeout_lost: { ...usual, capturing: { ...APPROVED, silence: 'before' } },
  reversed: { ...usual, reversesAfterMs: 2_000 },
  expires_2s: { ...usual, expiresAfterMs: 2_000 },
  slow: { ...usual, delayMs: 2_000 },
} as const satisfies Record<string, Behaviour>;

/** A behaviour's name. */
export type BehaviourName = keyof typeof BEHAVIOURS;

/** The behaviour of that name. */
export function behaviourOf(name: BehaviourName): Behaviour {
  return BEHAVIOURS[name];
}

const TOKEN_PREFIX = 'tok_sandbox_';

/** The behaviour that a built-in token names, or undefined. */
export function behaviourOfToken(tokenId: string): BehaviourName | undefined {
  if (!tokenId.startsWith(TOKEN_PREFIX)) return undefined;
  const name = tokenId.slice(TOKEN_PREFIX.length);
  return Object.hasOwn(BEHAVIOURS, name) ? (name as BehaviourName) : undefined;
}
