/**
 * What may happen in a wave of runs: each run has a script of its own, and between two steps something happens to all
 * of them.
 */
import fc from 'fast-check';
import type { CRASH_POINTS } from '../../../../services/core/domain/crash-points.ts';
import type { BehaviourName } from '../../../../services/sandbox/behaviour.ts';
import type { Fault } from './attempt.ts';
import { namesCard, WORDS, type Words } from './words.ts';
import { MERCHANTS } from './world.ts';

export interface Command {
  readonly do: keyof typeof WEIGHTS;
  /** One of the run's two holds. */
  readonly slot: number;
  readonly merchant: number;
  readonly token: BehaviourName;
  readonly share: keyof typeof SHARES;
  readonly terms: keyof typeof TERMS;
  readonly final: boolean;
  /** Of what is done with a hold: what the caller says its currency is. */
  readonly currency: (typeof CURRENCIES)[number];
  /** Of what is done with a hold, and of an OCT: what is said of it. */
  readonly words: Words;
  readonly fault: Fault;
  /** The second command of a race. */
  readonly rival: (typeof RIVALS)[number];
  /** Selects one of the earlier commands. */
  readonly pick: number;
}

export type Beat = (typeof BEATS)[number];
export interface Step {
  /** One command for each run. */
  readonly commands: readonly Command[];
  /** Core dies at the first command that reaches the point. */
  readonly crashes: readonly (typeof CRASH_POINTS)[number][];
  /** What happens to all runs before the step. */
  readonly beat: Beat;
}

const WEIGHTS = {
  capture: 14,
  race: 8,
  retry: 4,
  release: 3,
  'release a part': 14,
  increment: 8,
  extension: 9,
  refund: 10,
  update: 5,
  renew: 5,
  'capture by itself': 4,
  'release renewed': 4,
  'renew kept': 7,
  'void replaced': 3,
  'end there': 2,
  pay: 7,
  place: 1,
  checkout: 2,
  'step up': 3,
  oct: 6,
  get: 2,
  tell: 5,
  reuse: 1,
  contradict: 1,
  'come back': 8,
  correct: 4,
  impatient: 3,
} as const;

/** Parts of the remaining amount, and more than it. */
export const SHARES = {
  little: (remaining: number) => 1 + Math.floor(remaining / 7),
  half: (remaining: number) => Math.ceil(remaining / 2),
  rest: (remaining: number) => remaining,
  'over the rest': (remaining: number) => remaining + 1,
  all: (_: number, amount: number) => amount,
  'over all': (_: number, amount: number) => amount + 1,
} as const;

/** When a hold acts by itself, or until when it is kept, milliseconds from now; null takes it back. */
export const TERMS = {
  none: {},
  'capture soon': { captureAt: 2_500 },
  'capture later': { captureAt: 60_000 },
  'release soon': { releaseAt: 2_500 },
  'release later': { releaseAt: 60_000 },
  both: { captureAt: 2_500, releaseAt: 60_000 },
  'wrong order': { captureAt: 60_000, releaseAt: 2_500 },
  past: { captureAt: -1 },
  'too late': { releaseAt: 8 * 24 * 3_600_000 },
  keep: { keepUntil: 60 * 24 * 3_600_000 },
  'keep for seconds': { keepUntil: 3_000 },
  'keep and capture': { keepUntil: 60 * 24 * 3_600_000, captureAt: 60_000 },
  'keep and release late': { keepUntil: 60 * 24 * 3_600_000, releaseAt: 20 * 24 * 3_600_000 },
  'keep too long': { keepUntil: 91 * 24 * 3_600_000 },
  'keep no more': { keepUntil: null },
  'no capture': { captureAt: null },
  'no end': { releaseAt: null },
  neither: { captureAt: null, releaseAt: null },
} as const;

/** Those with which a hold can be placed. */
export const PLACED_TERMS: readonly Command['terms'][] = [
  'capture soon',
  'capture later',
  'release soon',
  'release later',
  'both',
  'keep',
  'keep for seconds',
  'keep and capture',
  'keep and release late',
];

/** The hold's, none, and another one. */
const CURRENCIES = ['EUR', undefined, 'JPY'] as const;

const RIVALS = [
  ...(['capture', 'release', 'release a part', 'increment', 'extension', 'same key'] as const),
  ...(['update', 'capture by itself', 'release renewed', 'freeze', 'freeze'] as const),
  ...(['renew kept', 'renew kept'] as const),
] as const;

/** In `jump` the number is milliseconds; `lost` is the number of inquiries without an answer. */
export const BEATS = [
  { is: 'nothing' },
  { is: 'jump', ms: 1_500 },
  { is: 'jump', ms: 3_000 },
  { is: 'jump', ms: 3_000 },
  { is: 'jump', ms: 90_000 },
  { is: 'jump', ms: 130_000 },
  { is: 'jump', ms: 31 * 60_000 },
  { is: 'jump', ms: 132 * 3_600_000 },
  { is: 'jump', ms: 7 * 24 * 3_600_000 },
  { is: 'sweep', fault: 'none' },
  { is: 'sweep', fault: 'none' },
  { is: 'sweep', fault: 'lost before' },
  { is: 'sweep', fault: 'lost after' },
  { is: 'sweep', fault: 'other amount' },
  { is: 'recover', lost: 0 },
  { is: 'recover', lost: 3 },
  { is: 'deliver' },
] as const;

const REVERSED = [
  ...(['reversed', 'reversed_in_part', 'reversed_in_two_parts', 'reversed_unattributed'] as const),
  ...(['reversed_reinstated', 'reversed_again'] as const),
];

/** Faults that the model knows. They include lost and late answers, and exclude slow cards, which need a real clock. */
const TOKENS: readonly BehaviourName[] = [
  ...(['ok', 'declined', 'insufficient_funds', 'invalid', 'processor_error'] as const),
  ...([
    'capture_declined',
    'capture_error',
    'increment_declined',
    'increment_error',
    'decrease_declined',
    'decrease_error',
    'extension_declined',
    'extension_error',
    'single_capture',
    'capture_only',
    'guarantee_short',
    'expires_2s',
    'ended_early',
    'voided_elsewhere',
  ] as const),
  ...REVERSED,
];
const USUAL: readonly BehaviourName[] = [
  ...(['ok', 'ok', 'ok', 'ok', 'ok', 'single_capture', 'expires_2s', 'ended_early', 'voided_elsewhere'] as const),
  'guarantee_short',
  ...REVERSED,
];
const LOSSES: readonly Fault[] = ['slow', 'lost before', 'lost after', 'late', 'late authorization'];

/** Any command. */
export const command = fc.record<Command>({
  do: fc.oneof(
    ...Object.entries(WEIGHTS).map(([name, weight]) => ({ weight, arbitrary: fc.constant(name as Command['do']) })),
  ),
  slot: fc.nat(1),
  merchant: fc.nat(MERCHANTS.length - 1),
  token: fc.oneof(fc.constantFrom(...USUAL), fc.constantFrom(...TOKENS)),
  share: fc.oneof(fc.constantFrom('little', 'half'), fc.constantFrom(...(Object.keys(SHARES) as Command['share'][]))),
  final: fc.oneof({ weight: 2, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  currency: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom('EUR' as const, undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...CURRENCIES) },
  ),
  fault: fc.oneof(
    { weight: 3, arbitrary: fc.constant<Fault>('none') },
    { weight: 2, arbitrary: fc.constantFrom(...LOSSES) },
  ),
  terms: fc.constantFrom(...(Object.keys(TERMS) as Command['terms'][])),
  words: fc.oneof(
    { weight: 7, arbitrary: fc.constantFrom(...WORDS.filter((words) => !namesCard({ words }))) },
    { weight: 1, arbitrary: fc.constantFrom(...WORDS) },
  ),
  rival: fc.constantFrom(...RIVALS),
  pick: fc.nat(20),
});

/** Returns the card of a command: at the processor that decides later, one whose captures are accepted. */
export function tokenOf({ token, pick }: Command, merchant: (typeof MERCHANTS)[number] | undefined): BehaviourName {
  if (merchant?.processor !== 'later') return token;
  return pick % 3 === 0 ? 'capture_accepted_declined' : 'capture_accepted';
}
