import { approved } from '../../../platform/adapter/ending.ts';
import { resultOf as formOf, type ResultInit } from '../../../platform/adapter/entry.ts';
import type { Context } from '../adapter-context.ts';
import type { Entry, State } from '../ledger/entry.ts';

/** How an operation ended, or that Adyen has taken it. */
export type Ending = Partial<State> & Pick<State, 'answer'>;

/** Done. */
export const APPROVED: Ending = approved();

/** The contract's form of how an entry ended. */
export function resultOf({ adjustments }: Pick<Context, 'adjustments'>, entry: Entry): ResultInit {
  return formOf({ ...entry, capabilities: capabilitiesOf(adjustments) });
}

/** One capture, which gives the rest back; increments and extensions of what was authorised as PreAuth. */
export function capabilitiesOf(adjustments: boolean) {
  return { severalCaptures: false, increments: adjustments, extension: adjustments, refunds: true };
}
