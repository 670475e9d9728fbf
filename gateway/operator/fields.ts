/** Schemas of fields that several operators' routes share. */
import { z } from 'zod';
import { MERCHANT_ID, MERCHANT_ID_FORM } from '../resource/identifiers.ts';

export const merchantId = z
  .string()
  .regex(MERCHANT_ID, MERCHANT_ID_FORM)
  .meta({ description: 'Names a merchant', examples: ['acme'] });
