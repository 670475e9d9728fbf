/** Schemas of fields that several operators' routes share. */
import { z } from 'zod';
import { MERCHANT_ID, MERCHANT_ID_FORM } from '../resource/identifiers.ts';
import { currency } from '../resource/request-fields.ts';

export const merchantId = z
  .string()
  .regex(MERCHANT_ID, MERCHANT_ID_FORM)
  .meta({ description: 'Names a merchant', examples: ['acme'] });

/** Bounds of an amount, both inclusive, from query parameters. */
export const amountFilters = {
  amountFrom: minorUnits('Only of this amount or more').optional(),
  amountTo: minorUnits('Only of this amount or less').optional(),
  currency: currency.optional(),
};

function minorUnits(description: string) {
  return z
    .string()
    .regex(/^[1-9][0-9]{0,11}$/, 'must be 1 to 999999999999')
    .meta({ description: `${description}, minor units`, examples: ['4200'] })
    .transform(BigInt);
}
