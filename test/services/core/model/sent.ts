/** One command as a run sends it. */
import type { Fault } from './attempt.ts';
import type { HoldModel, Terms } from './hold-model.ts';
import { namesCard, type Words } from './words.ts';

/** What merchants send, workers do, and the processor reports. */
export const COMMANDS = [
  ...([
    'place',
    'renew',
    'capture',
    'release',
    'release a part',
    'increment',
    'extension',
    'refund',
    'update',
  ] as const),
  ...(['capture by itself', 'release renewed', 'renew kept', 'void replaced', 'freeze'] as const),
] as const;

type Doing = (typeof COMMANDS)[number];

/** The point where core dies, if it does. */
export type Crash = 'none' | 'stored' | 'answered';

/** One command as it is sent. */
export interface Sent {
  readonly do: Doing;
  /** Of a placing or an update: when the hold acts by itself. */
  readonly terms?: Partial<Terms> | undefined;
  /** Of a renewal: the requestId of the old hold. */
  readonly renews?: string | undefined;
  /** Of a release after a renewal: whether the new hold is placed. */
  readonly renewal?: HoldModel['placing'] | undefined;
  /** Of a refund: the key of its capture, and its requestId. */
  readonly of?: string;
  readonly captureRequestId?: string;
  /** Empty = it has none. */
  readonly key: string;
  readonly amount: number;
  readonly final: boolean;
  /** Of what is done with a hold: what the caller says its currency is; every hold is in EUR. */
  readonly currency?: 'EUR' | 'JPY' | undefined;
  /** What is said of it besides. */
  readonly words?: Words | undefined;
  readonly fault: Fault;
  readonly crash: Crash;
  /** The caller aborted the call before, and repeats it under its key. */
  readonly brokenOff?: boolean;
}

/** What nobody calls core for has neither a key nor an amount. */
export const WORK = { key: '', amount: 0, final: false } as const;

/** Whether it is the request of a hold or an OCT. */
export const isPlacing = ({ do: what }: Sent) => what === 'place' || what === 'renew';

/** It names another currency than the hold's. */
export const isOtherCurrency = ({ currency }: Sent) => currency === 'JPY';

/** What it says is refused before anything else, also when it is a repetition. */
export const isRefusedAtOnce = (sent: Sent) => isOtherCurrency(sent) || namesCard(sent);

/** It, as a story tells it. */
export function spelled({ do: what, key, amount, final, currency, words, fault, terms }: Sent): string {
  const more = [currency, words, final ? 'final' : undefined, terms && JSON.stringify(terms)].filter(Boolean);
  return [what, key, amount, ...more, `(${fault})`].join(' ');
}

/** Whether it changes the hold itself. */
export const isChange = ({ do: what }: Sent) => what === 'increment' || what === 'extension';
