import { type Dictionary, ParseError, parseDictionary } from 'structured-headers';
import { refuseSignature } from './refuse-signature.ts';

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
