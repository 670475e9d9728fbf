/**
 * What may happen in a wave of runs: each run has a script of its own, and between two steps something happens to all
 * of them.
 */
import fc from 'fast-check';
import { CRASH_POINTS } from '../../../../services/core/domain/crash-points.ts';
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

/** When a hold acts by itself, milliseconds from now; null takes it back. */
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
];

/** The hold's, none, and another one. */
const CURRENCIES = ['EUR', undefined, 'JPY'] as const;

const RIVALS = [
  ...(['capture', 'release', 'release a part', 'increment', 'extension', 'same key'] as const),
  ...(['update', 'capture by itself', 'release renewed', 'freeze', 'freeze'] as const),
] as const;

/** In `jump` the number is milliseconds; `lost` is the number of inquiries without an answer. */
const BEATS = [
  { is: 'nothing' },
  { is: 'jump', ms: 3_000 },
  { is: 'jump', ms: 3_000 },
  { is: 'jump', ms: 130_000 },
  { is: 'jump', ms: 31 * 60_000 },
  { is: 'jump', ms: 7 * 24 * 3_600_000 },
  { is: 'sweep', fault: 'none' },
  { is: 'sweep', fault: 'none' },
  { is: 'sweep', fault: 'lost before' },
  { is: 'sweep', fault: 'lost after' },
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
    'expires_2s',
    'ended_early',
    'voided_elsewhere',
  ] as const),
  ...REVERSED,
];
const USUAL: readonly BehaviourName[] = [
  ...(['ok', 'ok', 'ok', 'ok', 'ok', 'single_capture', 'expires_2s', 'ended_early', 'voided_elsewhere'] as const),
  ...REVERSED,
];
const LOSSES: readonly Fault[] = ['slow', 'lost before', 'lost after', 'late', 'late authorization'];

const command = fc.record<Command>({
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

/** Openings that lead to states which random commands rarely reach. */
const STORIES: readonly Partial<Command>[][] = [
  // The checkout is cancelled with a lost answer, and the customer pays.
  [{ do: 'checkout' }, { do: 'release', fault: 'lost before' }, { do: 'pay', fault: 'none' }, { do: 'capture' }],
  [{ do: 'checkout' }, { do: 'release', fault: 'late' }, { do: 'pay', fault: 'none' }, { do: 'capture' }],
  // The customer pays, the event is lost, and the checkout is cancelled.
  [{ do: 'checkout' }, { do: 'pay', fault: 'slow' }, { do: 'release', fault: 'none' }],
  // The customer of a known card is asked by its issuer, on a page that is lost at first, is used, or is cancelled.
  ...(['none', 'lost before', 'lost after', 'lost after', 'late'] as const).flatMap((fault): Partial<Command>[][] => [
    [{ do: 'step up', token: 'ok', fault }, ...Array<Partial<Command>>(5).fill({ do: 'pay', final: false })],
    [{ do: 'step up', token: 'ok', fault: 'none' }, { do: 'release', fault }, { do: 'pay' }, { do: 'retry' }],
  ]),
  // One capture is unknown when another closes the hold.
  ...(['lost before', 'lost after', 'late'] as const).map((fault): Partial<Command>[] => [
    { do: 'place', merchant: 0, token: 'ok', fault: 'none' },
    { do: 'capture', share: 'little', final: false, fault },
    { do: 'capture', share: 'half', final: true, fault: 'none' },
  ]),
  // An increment is unknown when everything else is captured.
  ...(['lost before', 'lost after', 'late'] as const).map((fault): Partial<Command>[] => [
    { do: 'place', merchant: 0, token: 'ok', fault: 'none' },
    { do: 'increment', share: 'half', fault },
    { do: 'capture', share: 'rest', final: false, fault: 'none' },
  ]),
  // Parts are released whatever fails, and corrected, and the rest is captured, and renewed.
  ...(['none', 'none', 'none', 'lost before', 'lost after', 'late'] as const).map((fault): Partial<Command>[] => [
    { do: 'place', merchant: 0, token: 'ok', terms: 'none', fault: 'none' },
    { do: 'release a part', share: 'half', currency: 'EUR', words: 'everything', fault },
    { do: 'release a part', share: 'little', currency: 'EUR', words: 'digits', fault: 'none' },
    { do: 'correct', final: false },
    { do: 'capture', share: 'rest', final: false, fault: 'none' },
    { do: 'renew', final: false, fault: 'none' },
  ]),
  // An extension is unknown at the end of the hold's period.
  [
    { do: 'place', merchant: 2, token: 'ok', fault: 'none' },
    { do: 'extension', fault: 'lost after' },
  ],
  // What remains is due to be captured while a capture or the placing is unknown, while the hold is frozen, and after
  // that was changed.
  ...(['none', 'lost before', 'lost after', 'late'] as const).flatMap((fault): Partial<Command>[][] => [
    [
      { do: 'place', merchant: 0, token: 'ok', terms: 'capture soon', fault: 'none' },
      { do: 'capture', share: 'little', final: false, fault },
      { do: 'race', rival: 'capture by itself', share: 'half', final: false },
      { do: 'race', rival: 'freeze', final: true },
    ],
    [
      { do: 'place', merchant: 1, token: 'ok', terms: 'capture soon', fault },
      { do: 'capture by itself', fault },
      { do: 'update', terms: 'no capture' },
      { do: 'capture by itself', fault: 'none' },
    ],
  ]),
  // A hold is renewed while something of it is unknown, and released while the merchant captures it, or that is lost.
  ...(['none', 'lost before', 'lost after', 'late'] as const).flatMap((fault): Partial<Command>[][] => [
    [
      { do: 'place', merchant: 0, token: 'ok', terms: 'none', fault: 'none' },
      { do: fault === 'late' ? 'increment' : 'capture', share: 'little', final: false, fault },
      { do: 'renew', fault: 'none' },
      { do: 'race', rival: 'release renewed', share: 'half', final: false },
      { do: 'release renewed', fault },
    ],
    [
      { do: 'place', merchant: 1, token: 'ok', terms: 'none', fault: 'none' },
      { do: 'renew', fault: fault === 'lost after' ? fault : 'none' },
      { do: 'release renewed', fault },
    ],
  ]),
  // A capture is refunded in part, whatever fails, and again, also after its hold has closed.
  ...(['none', 'none', 'lost before', 'lost after', 'late', 'slow'] as const).map((fault): Partial<Command>[] => [
    { do: 'place', merchant: 0, token: 'ok', fault: 'none' },
    { do: 'capture', share: 'half', final: fault === 'slow', currency: 'EUR', words: 'a reference', fault: 'none' },
    { do: 'refund', share: 'half', currency: 'EUR', words: 'everything', fault },
    { do: 'come back' },
    { do: 'refund', share: 'little', fault: 'none' },
  ]),
  // A refund fails, or is done, and the processor says the contrary later.
  ...(['lost before', 'lost before', 'lost before', 'late', 'none', 'none'] as const).map(
    (fault): Partial<Command>[] => [
      { do: 'place', merchant: 0, token: 'ok', fault: 'none' },
      { do: 'capture', share: 'half', currency: 'EUR', words: 'everything', fault: 'none' },
      { do: 'refund', share: 'half', currency: 'EUR', words: 'digits', fault },
      ...Array<Partial<Command>>(5).fill({ do: 'correct', final: true }),
    ],
  ),
  // A release is unknown, and the merchant sends more commands.
  [{ do: 'place', token: 'ok', fault: 'none' }, { do: 'release', fault: 'lost after' }, { do: 'capture' }],
];

/** A story concerns one hold. */
function script(steps: number): fc.Arbitrary<Command[]> {
  const random = fc.array(command, { minLength: steps, maxLength: steps });
  const told = fc
    .tuple(fc.constantFrom(...STORIES), random)
    .map(([story, commands]) =>
      commands.map((each, index) => (story[index] ? { ...each, slot: 0, ...story[index] } : each)),
    );
  return fc.oneof({ weight: 3, arbitrary: random }, { weight: 1, arbitrary: told });
}

/** Creates a wave of `runs` scripts of `steps` steps. */
export function waves(runs: number, steps: number): fc.Arbitrary<Step[]> {
  const happening = fc.record({
    crashes: fc.subarray([...CRASH_POINTS], { maxLength: 7 }),
    beat: fc.oneof(
      { weight: 4, arbitrary: fc.constant<Beat>({ is: 'nothing' }) },
      { weight: 5, arbitrary: fc.constantFrom<Beat>(...BEATS) },
    ),
  });
  const scripts = fc.array(script(steps), { minLength: runs, maxLength: runs });
  return fc
    .tuple(scripts, fc.array(happening, { minLength: steps, maxLength: steps }))
    .map(([all, happenings]) =>
      happenings.map((each, index) => ({ ...each, commands: all.map((one) => one[index] as Command) })),
    );
}

/** Returns the card of a command: at the processor that decides later, one whose captures are accepted. */
export function tokenOf({ token, pick }: Command, merchant: (typeof MERCHANTS)[number] | undefined): BehaviourName {
  if (merchant?.processor !== 'later') return token;
  return pick % 3 === 0 ? 'capture_accepted_declined' : 'capture_accepted';
}
