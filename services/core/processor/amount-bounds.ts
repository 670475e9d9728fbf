import type { Violation } from '../../../platform/violations.ts';
import type { DescribeResponse } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';

/** What a hold or OCT is for. */
export interface Payment {
  /** Minor units. */
  readonly amount: bigint;
  readonly currency: string;
}

/** What is wrong with an amount, by what a processor says of itself; undefined = nothing, or it has not said it. */
export function amountBreachOf(
  description: Pick<DescribeResponse, 'currencies'> | undefined,
  { amount, currency }: Payment,
): Violation | undefined {
  const { currencies = [] } = description ?? {};
  if (currencies.length === 0) return undefined;
  const bounds = currencies.find((one) => one.currency === currency);
  if (!bounds) return { field: 'currency', description: 'is not taken by the card processor' };
  const { smallestAmount: least, largestAmount: most, multipleOf } = bounds;
  const wrong = (must: string) => ({
    field: 'amount',
    description: `must be ${must}: the card processor takes no other amount of ${currency}`,
  });
  if (amount < least || amount > most) return wrong(`${least} to ${most}`);
  return multipleOf > 1n && amount % multipleOf !== 0n ? wrong(`a multiple of ${multipleOf}`) : undefined;
}
