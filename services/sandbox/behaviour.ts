/** How the sandbox's test tokens and test cards behave (docs/sandbox.md, "Tokens"). */
import * as base from '../../platform/adapter/ending.ts';
import type { KeptResult, Kind } from '../../platform/adapter/entry.ts';

/** How one operation on a card goes. */
export interface Effect extends Pick<KeptResult, 'answer' | 'errorCode' | 'errorMessage' | 'declineCode'> {
  /** No answer ever comes: lost `before` the processor acted (it never does), or `after` it did. */
  readonly silence?: 'before' | 'after';
  /** Answered ACCEPTED first; the operation ends this much later. */
  readonly endsAfterMs?: number;
}

/**
 * How a card behaves over its life: how operations of each kind go, and what happens besides. An effect that is absent
 * is an approval.
 */
interface Behaviour extends Partial<Record<Kind, Effect>> {
  /** What the checkout page and docs/sandbox.md say of it. */
  readonly about: string;
  /** How authorizations go that renew another one; absent = as others. */
  readonly renewal?: Effect;
  /** Absent = a credit card. */
  readonly funding?: 'debit' | 'prepaid';
  /** Every answer comes this much later. */
  readonly delayMs?: number;
  /** An authorization ends this long after it was made; absent = HOLD_PERIOD_MS. */
  readonly expiresAfterMs?: number;
  /** What the merchant initiates is declined unless it names an authorization in which the customer took part. */
  readonly customerFirst?: true;
  /** The issuer always asks the customer for authentication; that fails, or the event of its end is lost. */
  readonly challenge?: 'passes' | 'fails' | 'lost';
  /** The card scheme guarantees an authorization for this long; absent = GUARANTEE_MS. */
  readonly guaranteedForMs?: number;
  /** An authorization is ended by somebody else this long after it was made, or after its first capture. */
  readonly ended?: { readonly afterMs: number; readonly as: 'expired' | 'voided'; readonly onceCaptured?: true };
  /** What the card scheme or the bank does with approved operations of a kind, stage by stage. */
  readonly stages?: { readonly [Name in Staged]?: readonly Stage[] };
  /** Reversals name the authorization only. */
  readonly unattributed?: true;
  /** What its authorizations cannot do. */
  readonly cannot?: { readonly [Name in Ability]?: true };
}

/** What an authorization may be able to do (Capabilities in processor.proto). */
export type Ability = 'severalCaptures' | 'increments' | 'extension' | 'refunds' | 'partialRelease';

/** The kinds of which something is taken back: captures by the card scheme, refunds and credits by the bank. */
export type Staged = 'capture' | 'refund' | 'credit';

/** Something of an operation is taken back, or given again. */
interface Stage {
  /** Counted from the operation, or from the moment at which core received the stage before. */
  readonly afterMs: number;
  /** Half of the operation (rounded down, at least 1), instead of all that is left of it. */
  readonly half?: true;
  /** Gives a capture again what was taken back. */
  readonly reinstates?: true;
}

/** Longest hold period an issuer grants; a contract's shorter one wins in core. */
export const HOLD_PERIOD_MS = 30 * 24 * 60 * 60 * 1000;
/** The time for which the card scheme guarantees an authorization. */
export const GUARANTEE_MS = 7 * 24 * 60 * 60 * 1000;
/** How much later the sandbox does what it does by itself. */
const LATER_MS = 2_000;
/** An accepted operation has a result by then, unless something is wrong. */
export const EXPECTED_WITHIN_MS = 10_000;

/** Done. */
export const APPROVED: Effect = base.approved();

const declined = (code: string, message: string, declineCode = '05') => base.declined(code, message, { declineCode });

/** A kept hold renews itself before that is over. */
const shortlyGuaranteed = { guaranteedForMs: LATER_MS };

const whole: Stage = { afterMs: LATER_MS };
const half: Stage = { ...whole, half: true };
const reinstatement: Stage = { ...whole, reinstates: true };

/** How an authorization goes whose issuer asks for the customer, when the customer cannot be asked. */
export const AUTHENTICATION_REQUIRED = declined(
  'authentication_required',
  'The issuer wants the customer to take part.',
  '1A',
);
/** How it goes when the customer was not authenticated. */
export const AUTHENTICATION_FAILED = declined('authentication_failed', 'The customer was not authenticated.', '1A');

/** Each behaviour by its name. `tok_sandbox_<name>` is a token that behaves so. */
export const BEHAVIOURS = {
  ok: { about: 'Approved' },
  debit: { about: 'Approved; a debit card', funding: 'debit' },
  prepaid: { about: 'Approved; a prepaid card', funding: 'prepaid' },
  declined: placing('Declined', declined('do_not_honor', 'The issuer declined the card.')),
  insufficient_funds: placing(
    'Declined: insufficient funds',
    declined('insufficient_funds', 'The account has insufficient funds.', '51'),
  ),
  invalid: placing(
    'Not performed: the token or card is not known',
    base.notPerformed('token_invalid', 'There is no such card token.'),
  ),
  processor_error: placing(
    'Not performed: processor error',
    base.notPerformed('processor_error', 'The processor could not do it.'),
  ),
  accepted: placing('Accepted, and approved 2 seconds later', { ...APPROVED, endsAfterMs: LATER_MS }),
  accepted_declined: placing('Accepted, and declined 2 seconds later', {
    ...declined('do_not_honor', 'The issuer declined the card.'),
    endsAfterMs: LATER_MS,
  }),
  timeout_applied: placing('Done, and the answer is lost', { ...APPROVED, silence: 'after' }),
  timeout_lost: placing('Not done, and no answer', { ...APPROVED, silence: 'before' }),
  ...ways('capture', 'captures'),
  ...ways('void', 'voids'),
  ...ways('increment', 'increments'),
  ...ways('decrease', 'partial releases', 'release a part'),
  ...ways('extension', 'extensions', 'extend'),
  ...ways('refund', 'refunds'),
  ...ways('renewal', 'renewals', 'renew', shortlyGuaranteed),
  reversed: { about: 'Approved; captures are reversed 2 seconds later', stages: { capture: [whole] } },
  reversed_in_part: {
    about: 'Approved; half of each capture is reversed 2 seconds later',
    stages: { capture: [half] },
  },
  reversed_in_two_parts: {
    about: 'Approved; half of each capture is reversed 2 seconds later, and the rest 2 seconds after that',
    stages: { capture: [half, whole] },
  },
  reversed_unattributed: {
    about: 'Approved; captures are reversed, and the event names the hold only',
    stages: { capture: [whole] },
    unattributed: true,
  },
  reversed_reinstated: {
    about: 'Approved; captures are reversed 2 seconds later, and reinstated 2 seconds after that',
    stages: { capture: [whole, reinstatement] },
  },
  reversed_again: {
    about: 'Approved; captures are reversed, reinstated and reversed again, 2 seconds after one another',
    stages: { capture: [whole, reinstatement, whole] },
  },
  refund_accepted_reversed: {
    about: 'Approved; captures are reversed 4 seconds later; refunds are accepted, and approved 8 seconds later',
    stages: { capture: [{ afterMs: 2 * LATER_MS }] },
    refund: { ...APPROVED, endsAfterMs: 4 * LATER_MS },
  },
  refund_returned: { about: 'Approved; refunds come back 2 seconds later', stages: { refund: [whole] } },
  refund_returned_in_part: {
    about: 'Approved; half of each refund comes back 2 seconds later',
    stages: { refund: [half] },
  },
  refund_returned_in_two_parts: {
    about: 'Approved; half of each refund comes back 2 seconds later, and the rest 2 seconds after that',
    stages: { refund: [half, whole] },
  },
  oct_returned: { about: 'Approved; OCTs come back 2 seconds later', stages: { credit: [whole] } },
  oct_returned_in_part: { about: 'Approved; half of each OCT comes back 2 seconds later', stages: { credit: [half] } },
  oct_returned_in_two_parts: {
    about: 'Approved; half of each OCT comes back 2 seconds later, and the rest 2 seconds after that',
    stages: { credit: [half, whole] },
  },
  expires_2s: { about: 'Approved; ends after 2 seconds', expiresAfterMs: 2_000 },
  customer_first: {
    about: 'Approved; without the customer only with the networkTransactionId of a hold in which it took part',
    customerFirst: true,
  },
  challenge: { about: 'The issuer asks the customer for authentication', challenge: 'passes' },
  challenge_failed: { about: 'The same, and it fails whatever the customer does', challenge: 'fails' },
  challenge_lost: { about: 'The same, and the event of its end is lost', challenge: 'lost' },
  guarantee_short: { about: 'Approved; guaranteed for 2 seconds, and ends later', ...shortlyGuaranteed },
  ended_early: { about: 'Approved; the issuer ends it after 2 seconds', ended: { afterMs: LATER_MS, as: 'expired' } },
  ended_after_capture: {
    about: 'Approved; the issuer ends it 2 seconds after the first capture',
    ended: { afterMs: LATER_MS, as: 'expired', onceCaptured: true },
  },
  voided_elsewhere: {
    about: 'Approved; somebody voids it at the processor after 2 seconds',
    ended: { afterMs: LATER_MS, as: 'voided' },
  },
  single_capture: { about: 'Approved; one capture only, which gives the rest back', cannot: { severalCaptures: true } },
  capture_only: {
    about: 'Approved; one capture only; neither increments, partial releases, extensions nor refunds',
    cannot: { severalCaptures: true, increments: true, partialRelease: true, extension: true, refunds: true },
  },
  slow: { about: 'Approved after 2 seconds', delayMs: 2_000 },
} as const satisfies Record<string, Behaviour>;

/** Authorizations and credits (OCT) go so. */
function placing(about: string, effect: Effect): Behaviour {
  return { about, authorization: effect, credit: effect };
}

type Way = 'declined' | 'error' | 'accepted' | 'accepted_declined' | 'timeout_applied' | 'timeout_lost';

/** The ways in which an operation on an authorization can go other than well. */
function ways<Name extends Kind | 'renewal'>(
  name: Name,
  several: string,
  verb: string = name,
  placed: Pick<Behaviour, 'guaranteedForMs'> = {},
): Record<`${Name}_${Way}`, Behaviour> {
  const refusal = declined(`${name}_declined`, `The issuer declined the ${name}.`);
  const behaviours: Record<Way, readonly [about: string, effect: Effect]> = {
    declined: [`${several} are declined`, refusal],
    error: [`${several} fail`, base.notPerformed(`${name}_error`, `The processor could not ${verb}.`)],
    accepted: [`${several} are accepted, and approved 2 seconds later`, { ...APPROVED, endsAfterMs: LATER_MS }],
    accepted_declined: [`${several} are accepted, and declined 2 seconds later`, { ...refusal, endsAfterMs: LATER_MS }],
    timeout_applied: [`answers to ${several} are lost`, { ...APPROVED, silence: 'after' }],
    timeout_lost: [`${several} are lost`, { ...APPROVED, silence: 'before' }],
  };
  const named = Object.entries(behaviours).map(([way, [about, effect]]) => [
    `${name}_${way}`,
    {
      about: `Approved${placed.guaranteedForMs ? '; guaranteed for 2 seconds' : ''}; ${about}`,
      ...placed,
      [name]: effect,
    },
  ]);
  return Object.fromEntries(named);
}

/** A behaviour's name. */
export type BehaviourName = keyof typeof BEHAVIOURS;

/** The behaviour of that name; empty = no card is involved. */
export function behaviourOf(name: BehaviourName | ''): Behaviour {
  return name === '' ? BEHAVIOURS.ok : BEHAVIOURS[name];
}

/** How operations of a kind go on a card; `renews`: the authorization that one renews, empty = none. */
export function effectOf(name: BehaviourName | '', kind: Kind, renews = ''): Effect {
  const behaviour = behaviourOf(name);
  const effect = renews === '' ? undefined : behaviour.renewal;
  return effect ?? behaviour[kind] ?? APPROVED;
}

/** What is done with approved operations of a kind on a card, stage by stage. */
export function stagesOf(name: BehaviourName | '', kind: Staged): readonly Stage[] {
  return behaviourOf(name).stages?.[kind] ?? [];
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
