import type { Violation } from '../../../platform/violations.ts';
import type { DescribeResponse } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';

/** The terms of a hold or OCT that bound its amount. */
export interface Payment {
  /** Minor units. */
  readonly amount: bigint;
  readonly currency: string;
}

/**
 * Returns how the amount of a hold or OCT breaks the bounds that a processor states; undefined = not at all, or no
 * bounds are stated.
 */
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

/** The terms of a capture, increment or refund that bound its amount. */
export interface Step extends Pick<Payment, 'amount'> {
  /** Undefined = any that the processor names. */
  readonly currency?: string | undefined;
}

/** The number that an amount must be a multiple of and is not; undefined = none, or the processor has not said it. */
export function stepBrokenBy(
  { amount, currency }: Step,
  description: Pick<DescribeResponse, 'currencies'> | undefined,
): bigint | undefined {
  const broken = description?.currencies.find(
    (one) => one.multipleOf > 1n && amount % one.multipleOf !== 0n && (currency ?? one.currency) === one.currency,
  );
  return broken?.multipleOf;
}
