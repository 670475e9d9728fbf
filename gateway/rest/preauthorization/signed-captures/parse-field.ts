import { type Dictionary, ParseError, parseDictionary } from 'structured-headers';
import { Problem } from '../../../http/problem.ts';

/** Reads a header that is a dictionary (RFC 9651, section 3.2). Throws SIGNATURE_REQUIRED when it is missing or malformed. */
export function parseField(name: string, value: string): Dictionary {
  if (value === '') throw refuseSignature(`The ${name} header is missing.`);
  try {
    return parseDictionary(value);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw refuseSignature(`The ${name} header is not a structured field dictionary.`);
  }
}

/** SIGNATURE_REQUIRED. The detail quotes neither what was sent nor what would have been right. */
export function refuseSignature(detail: string): Problem {
  return new Problem('SIGNATURE_REQUIRED', { detail });
}
