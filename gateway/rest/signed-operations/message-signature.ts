/**
 * HTTP Message Signatures (RFC 9421) of operations: algorithm ed25519, a fixed set of components, one key per merchant.
 */
import { createPublicKey, verify } from 'node:crypto';
import {
  type Dictionary,
  isInnerList,
  type Parameters,
  ParseError,
  parseDictionary,
  serializeInnerList,
} from 'structured-headers';
import { z } from 'zod';
import { Problem } from '../../http/problem.ts';

/** A request as received; a header that was not sent is ''. */
export interface SignedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly contentDigest: string;
  readonly idempotencyKey: string | undefined;
  readonly signatureInput: string;
  readonly signature: string;
}

/** The key that must have signed, and the time. */
export interface SignatureTerms {
  /** Ed25519, SubjectPublicKeyInfo in PEM. */
  readonly publicKey: string;
  readonly keyid: string;
  /** Seconds since 1970. */
  readonly nowSeconds: number;
}

/** Largest difference between `created` and this clock. */
const TOLERANCE_SECONDS = 300;

/**
 * Verifies a request's signature. Returns its nonce, which the caller must still use up, and its creation time (seconds
 * since 1970). Throws SIGNATURE_REQUIRED with the reason.
 */
export function verifyMessageSignature(request: SignedRequest, { publicKey, keyid, nowSeconds }: SignatureTerms) {
  const { label, components, parameters, signed } = readSignatureInput(request.signatureInput);
  const signature = readSignature(request.signature, label);
  const values = componentsOf(request);
  // All of them and nothing else, each once, in any order.
  if (components.length !== values.size || ![...values.keys()].every((name) => components.includes(name))) {
    throw refuseSignature(
      'The signed components must be "@method", "@path", "content-digest", and "idempotency-key" when that header is ' +
        'sent.',
    );
  }
  if (parameters.keyid !== keyid) throw refuseSignature('The signature parameter keyid must be the merchantId.');
  demandTime(parameters, nowSeconds);
  const base = [...components.map((name) => `"${name}": ${values.get(name)}`), `"@signature-params": ${signed}`];
  if (!verify(null, Buffer.from(base.join('\n'), 'latin1'), createPublicKey(publicKey), signature)) {
    throw refuseSignature('The signature does not verify.');
  }
  return { nonce: parameters.nonce, createdSeconds: parameters.created };
}

/**
 * Parses the Signature-Input header (RFC 9421, sections 2.3 and 4.1): the signature's label, the components in the
 * order in which they were signed, the parameters, and both as they were signed. Several signatures are refused, and so
 * is any spelling but the canonical one, which libraries write anyway: it excludes names that occur twice.
 */
function readSignatureInput(header: string) {
  const members = [...parseField('Signature-Input', header)];
  const [[label, member] = []] = members;
  if (label === undefined || member === undefined || members.length > 1) {
    throw refuseSignature('The Signature-Input header must name one signature.');
  }
  if (!isInnerList(member)) throw refuseSignature('The Signature-Input header must list the signed components.');
  const components = member[0].map(([name, ofItem]) => {
    if (typeof name === 'string' && ofItem.size === 0) return name;
    throw refuseSignature('Each signed component must be a name without parameters.');
  });
  const parameters = readParameters(member[1]);
  const signed = serializeInnerList(member);
  if (`${label}=${signed}` !== header) throw refuseSignature('The Signature-Input header is not in canonical form.');
  return { label, components, parameters, signed };
}

const seconds = (name: string) => {
  const error = `The signature parameter ${name} must be a whole number of seconds.`;
  return z.int({ error }).min(0, { error });
};
const text = (name: string) => {
  const error = `The signature parameter ${name} must be a string of 1 to 128 characters.`;
  return z.string({ error }).regex(/^[\x20-\x7E]{1,128}$/, { error });
};

const PARAMETERS = z.object({
  created: seconds('created'),
  expires: seconds('expires').optional(),
  nonce: text('nonce'),
  keyid: text('keyid'),
  alg: z.literal('ed25519', { error: 'The signature parameter alg must be "ed25519".' }).optional(),
});

/** An unknown parameter is refused: it may mean that the signature is for another receiver. */
function readParameters(parameters: Parameters): z.output<typeof PARAMETERS> {
  const known = Object.keys(PARAMETERS.shape);
  if (![...parameters.keys()].every((name) => known.includes(name))) {
    throw refuseSignature(`The only signature parameters are ${known.join(', ')}.`);
  }
  const { data, error } = PARAMETERS.safeParse(Object.fromEntries(parameters));
  if (error) throw refuseSignature(error.issues[0]?.message ?? '');
  return data;
}

/** The components that must be signed and their values (RFC 9421, sections 2.1 and 2.2). */
function componentsOf(request: SignedRequest): ReadonlyMap<string, string> {
  const values = new Map([
    ['@method', request.method],
    ['@path', request.path],
    ['content-digest', request.contentDigest],
  ]);
  if (request.idempotencyKey !== undefined) values.set('idempotency-key', request.idempotencyKey);
  return values;
}

function demandTime({ created, expires }: z.output<typeof PARAMETERS>, nowSeconds: number): void {
  if (Math.abs(nowSeconds - created) > TOLERANCE_SECONDS) {
    throw refuseSignature(
      'The signature was created more than 5 minutes ago, or in the future: check the clock of the machine that signs.',
    );
  }
  if (expires !== undefined && nowSeconds > expires) throw refuseSignature('The signature has expired.');
}

/** The bytes of the one signature, which must carry the input's label. */
function readSignature(header: string, label: string): Buffer {
  const members = parseField('Signature', header);
  const [bytes, parameters] = members.get(label) ?? [];
  if (members.size !== 1 || !(bytes instanceof ArrayBuffer) || parameters?.size !== 0) {
    throw refuseSignature(
      'The Signature header must carry one signature, under the name that Signature-Input gives it.',
    );
  }
  const signature = Buffer.from(bytes);
  if (`${label}=:${signature.toString('base64')}:` !== header) {
    throw refuseSignature('The Signature header is not in canonical form.');
  }
  return signature;
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

/** SIGNATURE_REQUIRED. The detail quotes neither the signature sent nor the right one. */
export function refuseSignature(detail: string): Problem {
  return new Problem('SIGNATURE_REQUIRED', { detail });
}
