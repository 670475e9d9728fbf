/**
 * What anybody on the network can send: forged, recorded and malformed requests. None may be answered 2xx, or break the
 * receiver.
 */
import type { Delivery } from './delivery.ts';
import { besides, DELIVERY, easy, SIGNATURES } from './pages.ts';
import { foreignSecret, type Sample, type Sent, signedWithEmptyKey, withHeaders } from './sample.ts';

const TEN_MINUTES_SECONDS = 600;

const REFUSE = { must: 'refuse' } as const;

/** A delivery to be refused, before it is spoilt. */
function toRefuse({ captured, deliver }: Sample): Sent {
  return deliver(captured(), REFUSE);
}

/** A request without signatures whose body nobody asked for. */
function unsigned(sample: Sample, body: string | Uint8Array): Sent {
  const { requestId: _, ...sent } = toRefuse(sample);
  return { ...sent, headers: { 'content-type': 'application/json' }, body };
}

export const UNTRUSTED: readonly Delivery[] = [
  {
    name: 'unsigned',
    sends: 'no signature at all',
    grade: 'F',
    mend: 'answer 401 when a header of the signature is absent',
    read: SIGNATURES,
    requests(sample) {
      const { headers, ...sent } = toRefuse(sample);
      return [{ ...sent, headers: { 'content-type': String(headers['content-type']) } }];
    },
  },
  {
    name: 'wrong-secret',
    sends: 'both signatures with another secret',
    grade: 'F',
    mend: 'compute the signature with your secret and compare it with the header',
    read: SIGNATURES,
    requests: ({ captured, deliver }) => [deliver(captured(), { ...REFUSE, secret: foreignSecret() })],
  },
  {
    name: 'empty-secret',
    sends: 'both signatures with an empty secret',
    grade: 'F',
    mend: 'refuse to start without a secret: with an empty one everybody can sign',
    read: easy(4),
    requests: (sample) => [signedWithEmptyKey(toRefuse(sample))],
  },
  {
    name: 'stale',
    sends: 'a genuine delivery of ten minutes ago, recorded',
    grade: 'D',
    mend: 'refuse a webhook-timestamp that is more than 5 minutes from your clock',
    read: besides(4),
    requests({ captured, deliver }) {
      return [deliver(captured(), { ...REFUSE, fromNowSeconds: -TEN_MINUTES_SECONDS })];
    },
  },
  {
    name: 'future',
    sends: 'a delivery signed ten minutes from now',
    grade: 'D',
    mend: 'refuse a webhook-timestamp that is more than 5 minutes from your clock, in both directions',
    read: besides(4),
    requests({ captured, deliver }) {
      return [deliver(captured(), { ...REFUSE, fromNowSeconds: TEN_MINUTES_SECONDS })];
    },
  },
  {
    name: 'timestamp-renewed',
    sends: 'a recording of ten minutes ago under the time of now',
    grade: 'F',
    mend: 'sign id.timestamp.body: the timestamp of the header belongs to what is signed',
    read: SIGNATURES,
    requests({ captured, deliver }) {
      const old = deliver(captured(), { ...REFUSE, fromNowSeconds: -TEN_MINUTES_SECONDS });
      return [withHeaders(old, { 'webhook-timestamp': String(Math.floor(Date.now() / 1_000)) })];
    },
  },
  {
    name: 'id-changed',
    sends: 'a delivery under another webhook-id',
    grade: 'F',
    mend: 'sign id.timestamp.body: webhook-id belongs to what is signed',
    read: SIGNATURES,
    requests: (sample) => [withHeaders(toRefuse(sample), { 'webhook-id': sample.newId() })],
  },
  {
    name: 'amount-changed',
    sends: 'a delivery with another amount than was signed',
    grade: 'F',
    mend: 'verify the body that you act on: the signature covers all of it',
    read: easy(2),
    requests({ captured, deliver }) {
      const signed = captured();
      return [deliver({ ...signed, amount: 999_900 }, { ...REFUSE, signed })];
    },
  },
  {
    name: 'type-changed',
    sends: 'a hold made to look like a capture; the five fields are unchanged',
    grade: 'F',
    mend: 'verify webhook-signature: X-Service-Signature does not cover type, operation and hold',
    read: besides(3),
    requests({ body, deliver }) {
      const signed = body('payment.authorized', { operation: 'HOLD' });
      return [deliver({ ...signed, operation: 'CAPTURE', type: 'payment.captured' }, { ...REFUSE, signed })];
    },
  },
  {
    name: 'fields-shifted',
    sends: 'the end of merchantId moved into requestId; X-Service-Signature still fits',
    grade: 'F',
    mend: 'verify webhook-signature, and check that merchantId is yours',
    read: besides(1),
    requests({ captured, deliver }) {
      const signed = captured();
      const [merchantId, requestId] = [String(signed.merchantId), String(signed.requestId)];
      const shifted = { merchantId: merchantId.slice(0, -1), requestId: merchantId.slice(-1) + requestId };
      return [deliver({ ...signed, ...shifted }, { ...REFUSE, signed })];
    },
  },
  {
    name: 'written-again',
    sends: 'the signed JSON, parsed and written again with other blanks',
    grade: 'D',
    mend: 'verify the bytes as they came, before any parser',
    read: easy(2),
    requests({ captured, deliver }) {
      const signed = captured();
      return [deliver(signed, { ...REFUSE, signed, text: JSON.stringify(signed, null, 1) })];
    },
  },
  {
    name: 'service-signature-alone',
    sends: 'X-Service-Signature alone, of a recording whose type was changed',
    grade: 'F',
    mend: 'demand the three webhook- headers: who takes them away must not be believed',
    read: besides(3),
    requests({ body, deliver }) {
      const changed = { ...body('payment.authorized', { operation: 'CAPTURE' }), type: 'payment.captured' };
      const gone = { 'webhook-id': undefined, 'webhook-timestamp': undefined, 'webhook-signature': undefined };
      return [withHeaders(deliver(changed, REFUSE), gone)];
    },
  },
  {
    name: 'signature-cut',
    sends: 'the first eight characters of the signature',
    grade: 'F',
    mend: 'compare the whole text: one that begins alike is not equal',
    read: easy(3),
    requests(sample) {
      const sent = toRefuse(sample);
      return [withHeaders(sent, { 'webhook-signature': String(sent.headers['webhook-signature']).slice(0, 11) })];
    },
  },
  {
    name: 'signature-empty',
    sends: 'webhook-signature without a signature, and v1 without one',
    grade: 'F',
    mend: 'an empty list of signatures verifies nothing: begin with false',
    read: easy(3),
    requests(sample) {
      return ['', 'v1,'].map((signature) => withHeaders(toRefuse(sample), { 'webhook-signature': signature }));
    },
  },
  {
    name: 'signature-malformed',
    sends: 'signatures of other lengths and characters',
    grade: 'F',
    mend: 'answer 401 also when the comparison throws: timingSafeEqual does for another length',
    read: easy(3),
    requests(sample) {
      const malformed = ['v1', 'v1,!!!', `v1,${'A'.repeat(4_000)}`, 'sha256=00', `v1,${'A'.repeat(43)}=`];
      return malformed.map((signature) => withHeaders(toRefuse(sample), { 'webhook-signature': signature }));
    },
  },
  {
    name: 'signature-case',
    sends: 'the signature in small letters',
    grade: 'F',
    mend: 'compare with regard to case: Base64 has both',
    read: easy(3),
    requests(sample) {
      const sent = toRefuse(sample);
      return [withHeaders(sent, { 'webhook-signature': String(sent.headers['webhook-signature']).toLowerCase() })];
    },
  },
  {
    name: 'timestamp-malformed',
    sends: 'a recording whose webhook-timestamp is no number',
    grade: 'F',
    mend: 'demand digits: no comparison with NaN is true, so an age that is NaN is never too old',
    read: besides(4),
    requests(sample) {
      return ['soon', '', '1e99'].map((time) => withHeaders(toRefuse(sample), { 'webhook-timestamp': time }));
    },
  },
  {
    name: 'empty-body',
    sends: 'no body, and no signature',
    grade: 'F',
    mend: 'answer 401 to a body that does not verify, also an empty one',
    read: easy(2),
    requests: (sample) => [unsigned(sample, '')],
  },
  {
    name: 'broken-json',
    sends: 'half of a JSON text, null and a list',
    grade: 'F',
    mend: 'verify first and parse then, and answer 4xx to what is no JSON object',
    read: easy(2),
    requests: (sample) => ['{"merchantId":', 'null', '[]'].map((text) => unsigned(sample, text)),
  },
  {
    name: 'not-utf-8',
    sends: 'bytes that are no UTF-8, and NUL',
    grade: 'F',
    mend: 'verify bytes, and decode what has verified',
    read: easy(2),
    requests: (sample) => [unsigned(sample, Uint8Array.of(0x7b, 0x22, 0xff, 0xfe, 0x00, 0xc0, 0x22, 0x7d))],
  },
  {
    name: 'deep-json',
    sends: 'JSON of 10 000 lists in each other',
    grade: 'F',
    mend: 'verify before you parse: parsers end their process, or throw, at such a depth',
    read: easy(2),
    requests: (sample) => [unsigned(sample, `${'['.repeat(10_000)}${']'.repeat(10_000)}`)],
  },
  {
    name: 'huge-body',
    sends: 'a body of 2 MiB without a signature',
    grade: 'F',
    mend: 'limit bodies to some 64 KiB, and answer 413 or close the connection',
    read: besides(7),
    requests: (sample) => [{ ...unsigned(sample, 'x'.repeat(2 ** 21)), must: 'refuse or close' }],
  },
  {
    name: 'other-content-type',
    sends: 'a form instead of JSON, without a signature',
    grade: 'F',
    mend: 'answer 4xx to another Content-Type: a parser that leaves no body must not cause a 500',
    read: easy(2),
    requests(sample) {
      return [withHeaders(unsigned(sample, 'amount=1'), { 'content-type': 'application/x-www-form-urlencoded' })];
    },
  },
  {
    name: 'get-and-head',
    sends: 'GET and HEAD, as scanners do',
    grade: 'B',
    mend: 'answer 405, 404 or a page, and no 5xx',
    read: besides(7),
    requests(sample) {
      return ['GET', 'HEAD'].map((method) => ({ ...unsigned(sample, ''), method, must: 'survive' as const }));
    },
  },
  {
    name: 'after-a-refusal',
    sends: 'a forged delivery and a genuine one over one connection',
    grade: 'F',
    mend: 'read the body of what you refuse, or say Connection: close: the rest of it is not the next request',
    read: DELIVERY,
    isOneConnection: true,
    requests(sample) {
      const { captured, deliver } = sample;
      return [deliver(captured(), { ...REFUSE, secret: foreignSecret() }), deliver(captured())];
    },
  },
  {
    name: 'broken-off',
    sends: 'half of a delivery, then a genuine one',
    grade: 'D',
    mend: 'bound the time for a body, and survive a connection that breaks while you read',
    read: besides(7),
    requests(sample) {
      const { captured, deliver } = sample;
      return [deliver(captured(), { must: 'nothing', effects: 0 }), deliver(captured())];
    },
  },
  {
    name: 'still-well',
    sends: 'an ordinary notification at the end',
    grade: 'D',
    mend: 'limit failed verifications apart from genuine ones: a forger must not shut Holdfast out',
    read: besides(7),
    requests: ({ captured, deliver }) => [deliver(captured())],
  },
];
