import { SIGNED_FIELDS, type SignedFields } from '../../proto/signature.ts';
import { MERCHANT_ID } from '../merchant-id.ts';
import { type FieldError, Problem } from '../problem.ts';
import { JsonNumber, parseStrictJson, type StrictJsonObject, StrictJsonRefusal } from '../strict-json.ts';

/** What each signed field looks like (PRODUCT section 10). */
export const GRAMMAR: Readonly<Record<keyof SignedFields, RegExp>> = {
  merchantId: MERCHANT_ID,
  requestId: /^[A-Za-z0-9._:-]{1,64}$/,
  status: /^(OK|KO)$/,
  amount: /^[0-9]{1,12}(\.[0-9]{1,4})?$/,
  currency: /^[A-Z]{3}$/,
};

/** Reads the five signed fields as text; other fields pass untouched. Throws INVALID_REQUEST that names each fault. */
export function parseNotification(body: Buffer): SignedFields {
  const json = parse(body);
  const fields = {} as Record<keyof SignedFields, string>;
  const errors: FieldError[] = [];
  for (const name of SIGNED_FIELDS) {
    const text = textOf(json, name);
    if (text !== undefined && GRAMMAR[name].test(text)) fields[name] = text;
    else
      errors.push({
        field: name,
        message: Object.hasOwn(json, name) ? `must match ${GRAMMAR[name].source}` : 'is required',
      });
  }
  if (errors.length > 0) throw new Problem('INVALID_REQUEST', { detail: 'The notification is not valid.', errors });
  return fields;
}

/**
 * The merchant that a body seems to name, read as cheaply as may be: it only decides whose penalty is looked up before
 * the strict reading, which refuses every body that could be read in two ways.
 */
export function claimedMerchant(body: Buffer): string | undefined {
  try {
    const merchantId: unknown = JSON.parse(body.toString('utf8'))?.merchantId;
    return typeof merchantId === 'string' && GRAMMAR.merchantId.test(merchantId) ? merchantId : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function parse(body: Buffer): StrictJsonObject {
  try {
    return parseStrictJson(body);
  } catch (error) {
    if (!(error instanceof StrictJsonRefusal)) throw error;
    const errors = [{ field: 'body', message: error.message }];
    throw new Problem('INVALID_REQUEST', { detail: 'The body is not valid JSON.', errors });
  }
}

/** The text that was signed: of a string its characters, of the amount also a number's source. */
function textOf(json: StrictJsonObject, name: keyof SignedFields): string | undefined {
  const value = Object.hasOwn(json, name) ? json[name] : undefined;
  if (typeof value === 'string') return value;
  return name === 'amount' && value instanceof JsonNumber ? value.source : undefined;
}
