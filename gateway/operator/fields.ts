/** Schemas of fields that several operators' routes share. */
import { z } from 'zod';
import { MERCHANT_ID, MERCHANT_ID_FORM } from '../resource/identifiers.ts';
import { currency, MOST_AMOUNT, queryInteger } from '../resource/request-fields.ts';

export const merchantId = z
  .string()
  .regex(MERCHANT_ID, MERCHANT_ID_FORM)
  .meta({ description: 'Names a merchant', examples: ['acme'] });

/** Bounds of an amount, both inclusive, from query parameters. */
export const amountFilters = {
  amountFrom: minorUnits('Only of this amount or more'),
  amountTo: minorUnits('Only of this amount or less'),
  currency: currency.optional(),
};

function minorUnits(description: string) {
  return queryInteger(1, MOST_AMOUNT)
    .transform(BigInt)
    .meta({ description: `${description}, minor units`, examples: [4200] })
    .optional();
}
