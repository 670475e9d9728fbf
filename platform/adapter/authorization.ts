/** What an adapter asks of an authorization before it does anything with it. */
import { AuthorizationEnd } from '../../proto/gen/holdfast/processor/v1/event_pb.js';
import { notPerformed } from './ending.ts';
import type { KeptResult } from './entry.ts';
import type { Intent, State } from './postgres/entries.ts';

type Sums = Pick<Intent & State, 'amount' | 'incremented' | 'captured' | 'voided'>;

/** What is authorized, increments included, minor units. */
export const totalOf = ({ amount, incremented }: Pick<Sums, 'amount' | 'incremented'>): bigint => amount + incremented;

/** What of an authorization is neither captured nor given back, minor units. */
export const remainingOf = (sums: Sums): bigint => totalOf(sums) - sums.captured - sums.voided;

/** There is no such authorization. */
export const NOT_FOUND = notPerformed('authorization_not_found', 'There is no such authorization.');

/** Whose an authorization is, or whose it is said to be. */
type Parties = Pick<Intent, 'merchantId' | 'account' | 'currency'>;

/**
 * Why an operation cannot be about an authorization of these parties, or undefined. What is not said is not compared.
 */
export function mismatch(authorization: Parties, said: Parties): KeptResult | undefined {
  const differs = (field: keyof Parties) => said[field] !== '' && said[field] !== authorization[field];
  if (!differs('merchantId') && !differs('account') && !differs('currency')) return undefined;
  const message = 'Merchant, account or currency are not those of the authorization.';
  return notPerformed('authorization_mismatch', message);
}

/** That an authorization was ended by somebody else than core, or undefined. */
export function endedElsewhere(authorization: Pick<State, 'endedAt' | 'endedHow'>): KeptResult | undefined {
  if (authorization.endedAt === null) return undefined;
  return authorization.endedHow === AuthorizationEnd.EXPIRED
    ? notPerformed('authorization_expired', 'The authorization has ended.')
    : notPerformed('authorization_voided', 'The authorization was cancelled at the processor.');
}
