/** Parses the Signature-Input header: what was signed, when, and by which key (RFC 9421, sections 2.3 and 4.1). */
import {
  type BareItem,
  type Dictionary,
  type InnerList,
  isInnerList,
  type Parameters,
  ParseError,
  parseDictionary,
  serializeInnerList,
} from 'structured-headers';
import { Problem } from '../../../http/problem.ts';

/** The input of one signature. */
export interface SignatureInput {
  /** Names the signature in the Signature header. */
  readonly label: string;
  /** The components in the order in which they were signed. */
  readonly components: readonly string[];
  /** Value of `@signature-params`: the last line of what was signed. */
  readonly parameters: string;
  readonly keyid: string;
  readonly nonce: string;
  readonly createdSeconds: number;
  /** Seconds since 1970; undefined when the header has none. */
  readonly expiresSeconds: number | undefined;
}

/**
 * Parses the signature of a request. Several signatures are refused, and so is any spelling but the canonical one,
 * which libraries write anyway: it excludes names that occur twice. Throws SIGNATURE_REQUIRED.
 */
export function readSignatureInput(header: string): SignatureInput {
  const members = [...parseField('Signature-Input', header)];
  const [[label, member] = []] = members;
  if (label === undefined || member === undefined || members.length > 1) {
    throw refuseSignature('The Signature-Input header must name one signature.');
  }
  if (!isInnerList(member)) throw refuseSignature('The Signature-Input header must list the signed components.');
  const [items, parameters] = member;
  const components = items.map(([name, ofItem]) => {
    if (typeof name === 'string' && ofItem.size === 0) return name;
    throw refuseSignature('Each signed component must be a name without parameters.');
  });
  const said = readParameters(parameters);
  if (`${label}=${serializeInnerList(member as InnerList)}` !== header) {
    throw refuseSignature('The Signature-Input header is not in canonical form.');
  }
  return { label, components, parameters: serializeInnerList(member), ...said };
}

/** An unknown parameter is refused: it may mean that the signature is for another receiver. */
function readParameters(parameters: Parameters) {
  for (const name of parameters.keys()) {
    if (!KNOWN.has(name)) throw refuseSignature(`The only signature parameters are ${[...KNOWN].join(', ')}.`);
  }
  const [created, expires] = [parameters.get('created'), parameters.get('expires')];
  const [keyid, nonce, alg] = [parameters.get('keyid'), parameters.get('nonce'), parameters.get('alg')];
  if (!isSeconds(created)) throw refuseSignature('The signature parameter created must be a whole number of seconds.');
  if (expires !== undefined && !isSeconds(expires)) {
    throw refuseSignature('The signature parameter expires must be a whole number of seconds.');
  }
  if (!isText(nonce)) throw refuseSignature('The signature parameter nonce must be a string of 1 to 128 characters.');
  if (!isText(keyid)) throw refuseSignature('The signature parameter keyid must be a string of 1 to 128 characters.');
  if (alg !== undefined && alg !== 'ed25519') throw refuseSignature('The signature parameter alg must be "ed25519".');
  return { keyid, nonce, createdSeconds: created, expiresSeconds: expires };
}

const KNOWN: ReadonlySet<string> = new Set(['created', 'expires', 'nonce', 'keyid', 'alg']);

function isSeconds(value: BareItem | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isText(value: BareItem | undefined): value is string {
  return typeof value === 'string' && /^[\x20-\x7E]{1,128}$/.test(value);
}

/**
 * Reads a header that is a dictionary (RFC 9651, section 3.2). Throws SIGNATURE_REQUIRED when it is missing or
 * malformed.
 */
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
