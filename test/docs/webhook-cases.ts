/**
 * Valid and forged notifications on which the verification code in every language must agree: the shared vectors and
 * known attacks.
 */
import { createHmac } from 'node:crypto';
import {
  SIGNED_FIELDS,
  type SignedFields,
  signNotification,
  signStandardWebhook,
} from '../../client/webhooks/signature.ts';
import legacy from '../client/webhooks/signature.json' with { type: 'json' };
import standard from '../client/webhooks/standard-webhooks.json' with { type: 'json' };
import { signingSecret } from '../signing-secret.ts';

/** One X-Service-Signature to verify. */
export interface ServiceCase {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly body: string;
  /** As written in the body; undefined when the body is malformed. */
  readonly fields: SignedFields | undefined;
  readonly header: string;
  readonly verified: Verdict;
}

/** 'throws' = a secret is none, so nothing is verified. */
export type Verdict = boolean | 'throws';

/** One set of Standard Webhooks headers to verify. */
export interface StandardCase {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly body: string;
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly now: number;
  readonly verified: Verdict;
}

/** The shared vectors: what a secret of any form makes of the five fields. */
export const SIGNED_TEXTS = [
  ...legacy.vectors,
  ...[legacy.ambiguous.a, legacy.ambiguous.b].map((fields) => ({ ...legacy.ambiguous, ...fields })),
].map(({ secret, signature, ...fields }) => ({
  secret,
  fields: SIGNED_FIELDS.map((name) => fields[name]),
  signature,
}));

const SECRET = signingSecret('seed-test-secret');
const [OTHER_SECRET, ANOTHER_SECRET] = [signingSecret('other'), signingSecret('another')];
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

/** What an environment variable that is not set, is cut or is quoted makes of a secret. */
export const NO_SECRETS: readonly string[] = [
  '',
  'whsec_',
  ' ',
  '"',
  "''",
  'undefined',
  'seed-test-secret',
  SECRET.slice('whsec_'.length),
  `${SECRET} `,
  `${SECRET}\n`,
  ` ${SECRET}`,
  `"${SECRET}"`,
  `whsec_${Buffer.alloc(23, 7).toString('base64')}`,
  `whsec_${Buffer.alloc(32, 0xfb).toString('base64url')}`,
  `whsec_${Buffer.alloc(32, 7).toString('base64').slice(0, -1)}`,
  `whsec_${Buffer.alloc(32, 7).toString('base64').replace(/.=$/, 'd=')}`,
];

/** X-Service-Signature: the amount as a number and as a string, then cases to reject. */
export const SERVICE_CASES: readonly ServiceCase[] = [
  ...['1000', '10.50', '10.5', '999999999999'].flatMap((amount) => {
    const fields = { ...FIELDS, amount };
    const header = signNotification(SECRET, fields);
    return [
      right(`${amount}, a number`, { fields, header, body: bodyOf(fields) }),
      right(`${amount}, text`, { fields, header, body: bodyOf(fields, true) }),
    ];
  }),
  right('with two secrets, the second', { secrets: [OTHER_SECRET, SECRET] }),
  right('with two secrets, the first', { secrets: [SECRET, OTHER_SECRET] }),
  wrong('without secrets', { secrets: [] }),
  wrong('with other secrets', { secrets: [OTHER_SECRET, ANOTHER_SECRET] }),
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
  ...NO_SECRETS.map((secret) => malformed(secret, signNotification(secret, FIELDS))),
  ...NO_SECRETS.map((secret) => ({
    ...malformed(secret, signNotification(secret, FIELDS)),
    secrets: [secret, SECRET],
  })),
];

function malformed(secret: string, header: string): ServiceCase {
  return right(`with the secret ${JSON.stringify(secret)}`, { secrets: [secret], header, verified: 'throws' });
}

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
    { name: 'nothing behind the version', signature: 'v1,' },
  ].map((change) => ({ ...SENT, ...change, verified: false })),
  ...NO_SECRETS.flatMap((secret) => [[secret], [secret, WHSEC]]).map((secrets) => ({
    ...SENT,
    name: `with the secrets ${JSON.stringify(secrets)}`,
    secrets,
    signature: `${signedWithNothing(MESSAGE)} v1,`,
    verified: 'throws' as const,
  })),
];

/** What anybody can sign, for receivers whose secret is empty. */
function signedWithNothing({ id, timestampSeconds, body }: typeof MESSAGE): string {
  return `v1,${createHmac('sha256', '').update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`;
}
