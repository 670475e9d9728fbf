/** Why a request is no genuine notification: the seven causes, for both clients. */
import { signNotification, signStandardWebhook } from '../../../client/webhooks/signature.ts';

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
export const OLDER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
export const NOW_SECONDS = Date.UTC(2027, 0, 1) / 1_000;
export const BODY = '{"merchantId":"acme","requestId":"r","status":"OK","amount":10,"currency":"EUR", "note": "é"}';
const FIELDS = { merchantId: 'acme', requestId: 'r', status: 'OK', amount: '10', currency: 'EUR' };

/** The headers of a delivery, as the worker sends them. */
export const headersOf = (body: string, secret = SECRET, timestampSeconds = NOW_SECONDS) => ({
  'webhook-id': 'd',
  'webhook-timestamp': String(timestampSeconds),
  'webhook-signature': signStandardWebhook(secret, { id: 'd', timestampSeconds, body }),
  'x-service-signature': signNotification(secret, FIELDS),
});

type Headers = Readonly<Record<string, unknown>>;
/** `undefined` as reason: it is genuine. A body that is no text was parsed. */
type Cause = readonly [what: string, headers: Headers, body: unknown, secrets: readonly string[], reason?: string];

const GOOD = headersOf(BODY);
const { 'webhook-id': _, ...WITHOUT_ID } = GOOD;
const { 'x-service-signature': __, ...STANDARD } = GOOD;
const upper = Object.fromEntries(Object.entries(GOOD).map(([name, value]) => [name.toUpperCase(), value]));
const lists = Object.fromEntries(Object.entries(GOOD).map(([name, value]) => [name, [value]]));
const has = (name: string, value: unknown) => ({ ...GOOD, [name]: value });

export const CAUSES: readonly Cause[] = [
  ['as it was sent', GOOD, BODY, [SECRET]],
  ['names of headers in capitals', upper, BODY, [SECRET]],
  ['headers as lists of one', lists, BODY, [SECRET]],
  ['Standard Webhooks alone', STANDARD, BODY, [OLDER, SECRET]],
  ['no secret', GOOD, BODY, [], 'NO_SECRET'],
  ['another secret', GOOD, BODY, [OLDER], 'WRONG_SECRET'],
  ['a parsed body', GOOD, JSON.parse(BODY), [SECRET], 'PARSED_BODY'],
  ['no body', GOOD, null, [SECRET], 'PARSED_BODY'],
  ['an old one', headersOf(BODY, SECRET, NOW_SECONDS - 301), BODY, [SECRET], 'STALE'],
  ['an early one', headersOf(BODY, SECRET, NOW_SECONDS + 301), BODY, [SECRET], 'STALE'],
  ['no headers', {}, BODY, [SECRET], 'MISSING_HEADER'],
  ['no id', WITHOUT_ID, BODY, [SECRET], 'MISSING_HEADER'],
  ['a header that is null', has('webhook-signature', null), BODY, [SECRET], 'MISSING_HEADER'],
  ['a signature of another scheme', has('webhook-signature', 'sha256=abc'), BODY, [SECRET], 'MALFORMED_HEADER'],
  ['a time that is none', has('webhook-timestamp', 'yesterday'), BODY, [SECRET], 'MALFORMED_HEADER'],
  ['an empty id', has('webhook-id', ''), BODY, [SECRET], 'MALFORMED_HEADER'],
  ['two times', has('webhook-timestamp', ['1', '2']), BODY, [SECRET], 'MALFORMED_HEADER'],
  ['a number as id', has('webhook-id', 7), BODY, [SECRET], 'MALFORMED_HEADER'],
  ['a body written again', GOOD, JSON.stringify(JSON.parse(BODY)), [SECRET], 'CHANGED_BODY'],
  ['a body that was read before', GOOD, '', [SECRET], 'CHANGED_BODY'],
  ['a body with another amount', GOOD, BODY.replace('10', '99'), [SECRET], 'WRONG_SECRET'],
  ['a signed body that is no object', headersOf('[]'), '[]', [SECRET], 'CHANGED_BODY'],
  ['a signed body that is no JSON', headersOf('x'), 'x', [SECRET], 'CHANGED_BODY'],
];
