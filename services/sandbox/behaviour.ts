/** How the sandbox's test tokens and test cards behave (docs/product.md, "Sandbox"). */
import type { Kind } from '../../platform/adapter/entry.ts';
import { Answer } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';

/** How one operation on a card goes. */
export interface Effect {
  readonly answer: Answer.APPROVED | Answer.DECLINED | Answer.NOT_PERFORMED;
  readonly errorCode: string;
  readonly errorMessage: string;
  /** No answer ever comes: lost `before` the processor acted (it never does), or `after` it did. */
  readonly silence?: 'before' | 'after';
  /** Answered ACCEPTED first; the operation ends this much later. */
  readonly endsAfterMs?: number;
}

/** How a card behaves over its life: how operations of each kind go, and what happens besides. An effect that is absent is an approval. */
export interface Behaviour extends Partial<Record<Kind, Effect>> {
  /** Every answer comes this much later. */
  readonly delayMs?: number;
  /** An authorization ends this long after it was made; absent = HOLD_PERIOD_MS. */
  readonly expiresAfterMs?: number;
  /** An authorization is ended by somebody else this long after it was made. */
  readonly ended?: { readonly afterMs: number; readonly as: 'expired' | 'voided' };
  /** The card scheme takes captures back. */
  readonly reversal?: Reversal;
  /** What its authorizations cannot do. */
  readonly cannot?: { readonly [Name in Ability]?: true };
}

/** What an authorization may be able to do (Capabilities in processor.proto). */
export type Ability = 'severalCaptures' | 'increments' | 'extension' | 'refunds';

/** How the card scheme takes a capture back. */
export interface Reversal {
  readonly afterMs: number;
  /** Half of the capture (rounded down, at least 1), instead of all of it. */
  readonly half?: true;
  /** The event names the authorization only. */
  readonly unattributed?: true;
  /** What was taken back is given again this long after the capture. */
  readonly reinstatedAfterMs?: number;
}

/** Longest hold period an issuer grants; a contract's shorter one wins in core. */
export const HOLD_PERIOD_MS = 30 * 24 * 60 * 60 * 1000;
/** What the sandbox does later by itself comes so much later. */
const LATER_MS = 2_000;
/** An accepted operation has a result by then, unless something is wrong. */
export const EXPECTED_WITHIN_MS = 10_000;

/** Done. */
export const APPROVED: Effect = { answer: Answer.APPROVED, errorCode: '', errorMessage: '' };

function declined(errorCode: string, errorMessage: string): Effect {
  return { answer: Answer.DECLINED, errorCode, errorMessage };
}

/** Not done, for a reason that is not the card's. */
export function notPerformed(errorCode: string, errorMessage: string): Effect {
  return { answer: Answer.NOT_PERFORMED, errorCode, errorMessage };
}

const reversal: Reversal = { afterMs: LATER_MS };

/** Each behaviour by its name. `tok_sandbox_<name>` is a token that behaves so. */
export const BEHAVIOURS = {
  ok: {},
  declined: placing(declined('do_not_honor', 'The issuer declined the card.')),
  insufficient_funds: placing(declined('insufficient_funds', 'The account has insufficient funds.')),
  invalid: placing(notPerformed('token_invalid', 'There is no such card token.')),
  processor_error: placing(notPerformed('processor_error', 'The processor could not do it.')),
  accepted: placing({ ...APPROVED, endsAfterMs: LATER_MS }),
  timeout_applied: placing({ ...APPROVED, silence: 'after' }),
  timeout_lost: placing({ ...APPROVED, silence: 'before' }),
  ...ways('capture'),
  ...ways('void'),
  ...ways('increment'),
  ...ways('extension', 'extend'),
  ...ways('refund'),
  capture_accepted_declined: {
    capture: { ...declined('capture_declined', 'The issuer declined the capture.'), endsAfterMs: LATER_MS },
  },
  reversed: { reversal },
  reversed_in_part: { reversal: { ...reversal, half: true } },
  reversed_unattributed: { reversal: { ...reversal, unattributed: true } },
  reversed_reinstated: { reversal: { ...reversal, reinstatedAfterMs: 2 * LATER_MS } },
  expires_2s: { expiresAfterMs: 2_000 },
  ended_early: { ended: { afterMs: LATER_MS, as: 'expired' } },
  voided_elsewhere: { ended: { afterMs: LATER_MS, as: 'voided' } },
  single_capture: { cannot: { severalCaptures: true } },
  capture_only: { cannot: { severalCaptures: true, increments: true, extension: true, refunds: true } },
  slow: { delayMs: 2_000 },
} as const satisfies Record<string, Behaviour>;

/** Authorizations and credits (OCT) go so. */
function placing(effect: Effect): Behaviour {
  return { authorization: effect, credit: effect };
}

type Way = 'declined' | 'error' | 'accepted' | 'timeout_applied' | 'timeout_lost';

/** The ways in which an operation on an authorization can go other than well. */
function ways<Name extends Kind>(name: Name, verb: string = name): Record<`${Name}_${Way}`, Behaviour> {
  const effects: Record<Way, Effect> = {
    declined: declined(`${name}_declined`, `The issuer declined the ${name}.`),
    error: notPerformed(`${name}_error`, `The processor could not ${verb}.`),
    accepted: { ...APPROVED, endsAfterMs: LATER_MS },
    timeout_applied: { ...APPROVED, silence: 'after' },
    timeout_lost: { ...APPROVED, silence: 'before' },
  };
  const named = Object.entries(effects).map(([way, effect]) => [`${name}_${way}`, { [name]: effect }]);
  return Object.fromEntries(named);
}

/** A behaviour's name. */
export type BehaviourName = keyof typeof BEHAVIOURS;

/** The behaviour of that name; empty = no card is involved. */
export function behaviourOf(name: BehaviourName | ''): Behaviour {
  return name === '' ? {} : BEHAVIOURS[name];
}

/** How operations of a kind go on a card. */
export function effectOf(name: BehaviourName | '', kind: Kind): Effect {
  return behaviourOf(name)[kind] ?? APPROVED;
}

/** Whether an authorization of that behaviour can do something. */
export function isAble(name: BehaviourName | '', ability: Ability): boolean {
  return behaviourOf(name).cannot?.[ability] !== true;
}

const TOKEN_PREFIX = 'tok_sandbox_';

/** The behaviour that a built-in token names, or undefined. */
export function behaviourOfToken(tokenId: string): BehaviourName | undefined {
  if (!tokenId.startsWith(TOKEN_PREFIX)) return undefined;
  const name = tokenId.slice(TOKEN_PREFIX.length);
  return Object.hasOwn(BEHAVIOURS, name) ? (name as BehaviourName) : undefined;
}
