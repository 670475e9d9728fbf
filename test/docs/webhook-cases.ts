/**
 * Valid and forged notifications on which the verification code in every language must agree: the shared vectors and
 * known attacks.
 */
import {
  SIGNED_FIELDS,
  type SignedFields,
  signNotification,
  signStandardWebhook,
} from '../../client/webhooks/signature.ts';
import legacy from '../client/webhooks/signature.json' with { type: 'json' };
import standard from '../client/webhooks/standard-webhooks.json' with { type: 'json' };

/** One X-Service-Signature to verify. */
export interface ServiceCase {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly body: string;
  /** As written in the body; undefined when the body is malformed. */
  readonly fields: SignedFields | undefined;
  readonly header: string;
  readonly verified: boolean;
}

/** One set of Standard Webhooks headers to verify. */
export interface StandardCase {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly body: string;
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly now: number;
  readonly verified: boolean;
}

const SECRET = 'seed-test-secret';
const FIELDS: SignedFields = { merchantId: 'M001', requestId: 'REQ-1', status: 'OK', amount: '10.50', currency: 'EUR' };
const RIGHT = signNotification(SECRET, FIELDS);

/** Returns a body whose amount is a number with the given spelling; decoy amounts elsewhere must be ignored. */
function bodyOf({ amount, ...fields }: SignedFields, isText = false): string {
  const others = JSON.stringify(fields).slice(1, -1);
  return (
    `{"first":{"amount":1},${others},"amount": ${isText ? `"${amount}"` : amount} ,"note":"5 ` +
    '\\"amount\\":7","last":[{"amount":2.0}]}'
  );
}

/** X-Service-Signature: the vectors with the amount as a number and as a string, then cases to reject. */
export const SERVICE_CASES: readonly ServiceCase[] = [
  ...[
    ...legacy.vectors,
    ...[legacy.ambiguous.a, legacy.ambiguous.b].map((fields) => ({ ...legacy.ambiguous, ...fields })),
  ].flatMap(({ secret, signature, merchantId, requestId, status, amount, currency }, index) => {
    const fields = { merchantId, requestId, status, amount, currency };
    const common = { secrets: [secret], fields, header: signature, verified: true };
    return [
      { ...common, name: `vector ${index}, a number`, body: bodyOf(fields) },
      { ...common, name: `vector ${index}, text`, body: bodyOf(fields, true) },
    ];
  }),
  right('with two secrets, the second', { secrets: ['other', SECRET] }),
  right('with two secrets, the first', { secrets: [SECRET, 'other'] }),
  wrong('without secrets', { secrets: [] }),
  wrong('with other secrets', { secrets: ['other', 'another'] }),
  ...SIGNED_FIELDS.map((name) => {
    const fields = { ...FIELDS, [name]: name === 'amount' ? '10.5' : `${FIELDS[name]}X` };
    return wrong(`with another ${name}`, { fields, body: bodyOf(fields) });
  }),
  ...Object.entries({
    'an empty header': '',
    '43 characters': RIGHT.slice(1),
    '45 characters': `A${RIGHT}`,
    'a trailing space': `${RIGHT} `,
    'the URL-safe alphabet': RIGHT.replaceAll('+', '-').replaceAll('/', '_').replace(/^./, '-'),
    'no padding': RIGHT.slice(0, 43),
    'two headers': `${RIGHT}, ${RIGHT}`,
    'another spelling of the same bytes': RIGHT.replace(
      /.=$/,
      (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}=`,
    ),
    'letters beyond ASCII': 'é'.repeat(44),
  }).map(([name, header]) => wrong(name, { header })),
  ...['', '{', '[]', 'null', '"text"', '5', '{"merchantId":"M001"}', bodyOf(FIELDS).replace('"OK"', 'true')].map(
    (body) => wrong(`the body ${body.slice(0, 24)}`, { body, fields: undefined }),
  ),
];

function right(name: string, change: Partial<ServiceCase>): ServiceCase {
  return { name, secrets: [SECRET], body: bodyOf(FIELDS), fields: FIELDS, header: RIGHT, verified: true, ...change };
}

function wrong(name: string, change: Partial<ServiceCase>): ServiceCase {
  return { ...right(name, change), verified: false };
}

const WHSEC = `whsec_${Buffer.alloc(32, 0xfb).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const MESSAGE = { id: 'msg_1', timestampSeconds: 1_800_000_000, body: '{"amount":10.50,"é":"\\u00e9"}\n' };
const SENT: StandardCase = {
  name: 'as it was sent',
  secrets: [WHSEC],
  body: MESSAGE.body,
  id: MESSAGE.id,
  timestamp: String(MESSAGE.timestampSeconds),
  signature: signStandardWebhook(WHSEC, MESSAGE),
  now: MESSAGE.timestampSeconds,
  verified: true,
};

/** Standard Webhooks: the specification's vectors, then cases to accept and to reject. */
export const STANDARD_CASES: readonly StandardCase[] = [
  ...standard.vectors.map(({ secret, id, timestamp, body, signature }) => ({
    name: `vector ${id}`,
    secrets: [secret],
    body,
    id,
    timestamp: String(timestamp),
    signature,
    now: timestamp,
    verified: true,
  })),
  SENT,
  { ...SENT, name: 'two signatures', signature: `${signStandardWebhook(OTHER, MESSAGE)} ${SENT.signature}` },
  { ...SENT, name: 'two secrets', secrets: [OTHER, WHSEC] },
  { ...SENT, name: 'five minutes old', now: SENT.now + 300 },
  ...[
    { name: 'older', now: SENT.now + 301 },
    { name: 'early', now: SENT.now - 301 },
    { name: 'another body', body: `${SENT.body}\n` },
    { name: 'another id', id: 'msg_2' },
    { name: 'another time', timestamp: String(Number(SENT.timestamp) + 1) },
    { name: 'another secret', secrets: [OTHER] },
    { name: 'no version', signature: SENT.signature.slice(3) },
    { name: 'another version', signature: SENT.signature.replace('v1', 'v2') },
    { name: 'no signature', signature: '' },
    { name: 'cut short', signature: SENT.signature.slice(0, -1) },
  ].map((change) => ({ ...SENT, ...change, verified: false })),
];
