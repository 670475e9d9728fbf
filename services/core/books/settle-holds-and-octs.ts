import { isOk } from '../domain/operation.ts';
import type { Database } from '../storage/database.ts';
import { settleHolds } from '../storage/hold/write-holds.ts';
import { settleOcts } from '../storage/oct/write-octs.ts';
import { type End, endColumns, endedEach, resultOf } from './result.ts';

/** The fields of an OCT that its end needs; none of them changes. */
export interface OctFields {
  readonly requestId: string;
  readonly merchantId: string;
  readonly terminalId: string;
  readonly userId: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly merchantReference?: string | null | undefined;
}

/** The same of a hold. */
export interface HoldFields extends OctFields {
  readonly notifyHolds: boolean;
  readonly holdPeriodS: number;
}

/** How placing a hold ended. */
export interface HoldEnd extends End {
  readonly hold: HoldFields;
}

/** Ends the placing of holds in one statement. */
export async function settleGatheredHolds({ query }: Database, ends: readonly HoldEnd[]) {
  const results = ends.map((end) => {
    const { hold, outcome, at } = end;
    return {
      ...endColumns(hold.requestId, end),
      ...(isOk(outcome) && {
        expiresAt: expiryOf(hold, at, outcome.expiresAt).toISOString(),
        generatedTokenId: outcome.generatedTokenId,
        card: outcome.card,
        capabilities: outcome.capabilities,
      }),
      operation: resultOf(hold.requestId, 'HOLD', hold, end),
    };
  });
  return endedEach(await settleHolds(query, results), results);
}

/** The end of a hold: the contract's period from now, or the processor's end when that is earlier (docs/product.md, "Contract of a merchant"). */
export function expiryOf(hold: { holdPeriodS: number }, at: Date, processorEnd: Date | undefined): Date {
  const contractEnd = new Date(at.getTime() + hold.holdPeriodS * 1_000);
  return processorEnd && processorEnd < contractEnd ? processorEnd : contractEnd;
}

/** How an OCT ended. */
export interface OctEnd extends End {
  readonly oct: OctFields;
}

/** Ends OCTs in one statement. */
export async function settleGatheredOcts({ query }: Database, ends: readonly OctEnd[]) {
  const results = ends.map((end) => {
    const { oct, outcome } = end;
    return {
      ...endColumns(oct.requestId, end),
      ...(isOk(outcome) && { bankReference: outcome.bankReference, card: outcome.card }),
      operation: resultOf(oct.requestId, 'OCT', { ...oct, notifyHolds: true }, end),
    };
  });
  return endedEach(await settleOcts(query, results), results);
}
