import type { Merchant } from '../../torture/deployment/deployment.ts';
import type { Kind } from './promise.ts';

/** Something that a merchant wants done once. */
export interface Intention {
  readonly kind: Kind;
  readonly merchant: Merchant;
  readonly path: string;
  readonly body: object;
  /** How the processor's ledger names it: unique for each intention. */
  readonly mark: string;
  /** The merchant's reference, which its result has, too; absent = none. */
  readonly reference?: string | undefined;
  /** The refusal that must be its answer; absent = it may be done. */
  readonly refusedAs?: string | undefined;
}

/** Its outcome according to the answers. Undecided: an answer promised nothing, or none arrived. */
export interface Told extends Intention {
  readonly outcome: 'done' | 'not done' | 'undecided';
  /** Of the operation that is done, or stored as KO. */
  readonly requestId?: string | undefined;
  /** Of a hold that is done. */
  readonly preauthorizationId?: string | undefined;
  /** Every answer, in order. */
  readonly story: readonly string[];
}
