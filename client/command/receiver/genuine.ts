/** Genuine notifications, in all forms in which they come: each must be answered 2xx. */
import type { Delivery } from './delivery.ts';
import { BODY, besides, DELIVERY, easy, ORDER, PATHS, SECRETS, SIGNATURES } from './pages.ts';
import { foreignSecret, type Sample, withHeaders } from './sample.ts';

const MINUTE_SECONDS = 60;

export const GENUINE: readonly Delivery[] = [
  {
    name: 'ordinary',
    sends: 'a capture, signed now',
    grade: 'E',
    mend: 'verify the raw body with the secret of this check; if you compare merchantId, give yours with --merchant',
    read: SIGNATURES,
    requests: ({ captured, deliver }) => [deliver(captured())],
  },
  {
    name: 'repeated',
    sends: 'a delivery a second time, signed anew',
    grade: 'D',
    mend: 'answer a repetition of (merchantId, requestId) 200, and book nothing',
    read: besides(2),
    requests({ captured, deliver, newId }) {
      const [body, id] = [captured(), newId()];
      return [deliver(body, { id }), deliver(body, { id, fromNowSeconds: 1 })];
    },
  },
  {
    name: 'repeated-bytes',
    sends: 'the same bytes and headers twice',
    grade: 'D',
    mend: 'answer a repetition of (merchantId, requestId) 200, also under the same signature',
    read: besides(2),
    requests({ captured, deliver }) {
      const sent = deliver(captured());
      return [sent, sent];
    },
  },
  {
    name: 'repeated-at-once',
    sends: 'one notification ten times at once',
    grade: 'D',
    mend: 'insert (merchantId, requestId) under a unique key, and answer 200 when it is there: do not look first',
    read: besides(2),
    isAtOnce: true,
    requests({ captured, deliver }) {
      const sent = deliver(captured());
      return Array.from({ length: 10 }, () => sent);
    },
  },
  {
    name: 'twenty-at-once',
    sends: 'twenty notifications at once',
    grade: 'D',
    mend: 'store and answer; do slow work afterwards, and raise the limit of connections',
    read: besides(6),
    isAtOnce: true,
    requests: ({ captured, deliver }) => Array.from({ length: 20 }, () => deliver(captured())),
  },
  {
    name: 'out-of-order',
    sends: 'results 3, 1 and 2 of one hold',
    grade: 'D',
    mend: 'store what comes early, and order by sequence: do not wait for the one before, or refuse',
    read: ORDER,
    requests({ captured, deliver }) {
      const holdRequestId = String(captured().requestId);
      return [3, 1, 2].map((sequence) => deliver(captured({ holdRequestId, sequence })));
    },
  },
  {
    name: 'late',
    sends: 'a result of three days ago, signed now',
    grade: 'D',
    mend: 'judge the age by webhook-timestamp, not by finalStateDate: retries go on for days',
    read: besides(4),
    requests: ({ captured, deliver }) => [deliver(captured({ finalStateDate: threeDaysAgo() }))],
  },
  {
    name: 'ko-after-ok',
    sends: 'a chargeback of a capture that was OK before',
    grade: 'D',
    mend: 'take payment.reversed as a result of its own, with its own requestId, that names captureRequestId',
    read: BODY,
    requests({ body, captured, deliver }) {
      const capture = captured();
      const ko = { status: 'KO', operation: 'REVERSAL', captureRequestId: capture.requestId, sequence: 3 };
      return [deliver(capture), deliver(body('payment.reversed', ko))];
    },
  },
  {
    name: 'declined',
    sends: 'a capture that was declined, with the codes of the processor',
    grade: 'D',
    mend: 'answer a KO 2xx, too: the status says how the operation ended, not whether to take the notification',
    read: PATHS,
    requests({ body, deliver }) {
      const why = { processorCode: 'do_not_honor', processorMessage: 'Do not honor' };
      return [deliver(body('payment.declined', { status: 'KO', ...why }))];
    },
  },
  {
    name: 'authorized',
    sends: 'a hold, with the card',
    grade: 'D',
    mend: 'take results of holds, which come when the contract says notifyHolds',
    read: PATHS,
    requests({ body, deliver }) {
      const paymentMethodData = { brand: 'visa', last4: '4242', expiryMonth: 12, expiryYear: 2031 };
      return [deliver(body('payment.authorized', { operation: 'HOLD', sequence: 1, paymentMethodData }))];
    },
  },
  {
    name: 'payout',
    sends: 'an OCT that was paid',
    grade: 'D',
    mend: 'serve …/webhook/processor/oct/…, too, and do not demand hold or sequence',
    read: PATHS,
    requests: ({ body, deliver }) => [deliver(body('oct.paid', { operation: 'OCT' }))],
  },
  {
    name: 'other-amount',
    sends: 'a known requestId with another amount',
    grade: 'D',
    mend: 'raise an alarm, keep what you have booked, and answer 2xx or 4xx',
    read: besides(2),
    requests({ captured, deliver }) {
      const body = captured();
      return [deliver(body), deliver({ ...body, amount: 9_999 }, { must: 'survive', effects: 1 })];
    },
  },
  {
    name: 'test',
    sends: 'a test notification: amount 0, no operation',
    grade: 'C',
    mend: 'answer a test 2xx, and book nothing: operation, hold and sequence are absent',
    read: besides(3),
    requests({ body, deliver }) {
      const without = { operation: undefined, hold: undefined, sequence: undefined, holdRequestId: undefined };
      return [deliver(body('payment.test', { ...without, amount: 0, test: true }), { effects: 0 })];
    },
  },
  {
    name: 'unknown-type',
    sends: 'a type and an operation that do not exist yet',
    grade: 'C',
    mend: 'answer a type that you do not know 2xx, and book nothing: later versions add some',
    read: besides(3),
    requests({ body, deliver }) {
      return [deliver(body('payment.check_receiver', { operation: 'CHECK_RECEIVER' }), { effects: 0 })];
    },
  },
  {
    name: 'unknown-fields',
    sends: 'fields that do not exist yet, also inside hold',
    grade: 'C',
    mend: 'ignore fields that you do not know: a strict schema refuses the next version',
    read: BODY,
    requests({ captured, deliver }) {
      const hold = { ...(captured().hold as object), checkReceiver: null };
      return [deliver(captured({ hold, checkReceiver: { list: [1, true, null] }, '': '' }))];
    },
  },
  {
    name: 'without-type',
    sends: 'a notification of version 1.0.0: no type, hold or sequence',
    grade: 'C',
    mend: 'take type as optional, and operation with status instead: replays of old results have none',
    read: PATHS,
    requests({ captured, deliver }) {
      return [deliver(captured({ type: undefined, hold: undefined, sequence: undefined }))];
    },
  },
  {
    name: 'two-secrets',
    sends: 'two signatures in webhook-signature, ours first and ours second',
    grade: 'D',
    mend: 'split webhook-signature at blanks and accept any: both secrets sign while you change them',
    read: SECRETS,
    requests: (sample) => [besideAnother(sample, 'first'), besideAnother(sample, 'second')],
  },
  {
    name: 'other-version',
    sends: 'a signature of version v9 beside that of v1',
    grade: 'C',
    mend: 'skip signatures that do not begin with v1, and go on with the next',
    read: SIGNATURES,
    requests({ captured, deliver }) {
      const sent = deliver(captured());
      return [withHeaders(sent, { 'webhook-signature': `v9,AAAA ${sent.headers['webhook-signature']}` })];
    },
  },
  {
    name: 'header-case',
    sends: 'names of headers in capitals',
    grade: 'C',
    mend: 'look headers up without regard to case: proxies write them as they like',
    read: SIGNATURES,
    requests({ captured, deliver }) {
      const sent = deliver(captured());
      const capitals = Object.entries(sent.headers).map(([name, value]) => [name.toUpperCase(), value]);
      return [{ ...sent, headers: Object.fromEntries(capitals) }];
    },
  },
  {
    name: 'charset',
    sends: 'Content-Type: application/json; charset=utf-8',
    grade: 'C',
    mend: 'compare the media type alone, without its parameters',
    read: easy(2),
    requests({ captured, deliver }) {
      return [withHeaders(deliver(captured()), { 'content-type': 'application/json; charset=utf-8' })];
    },
  },
  {
    name: 'slow-body',
    sends: 'a body in eight pieces',
    grade: 'D',
    mend: 'read the body to its end before you verify: it need not come at once',
    read: easy(2),
    requests: ({ captured, deliver }) => [{ ...deliver(captured()), pieces: 8 }],
  },
  {
    name: 'unicode',
    sends: 'text beyond ASCII, escaped and plain',
    grade: 'D',
    mend: 'verify bytes, not characters of another encoding, and do not write the JSON again',
    read: easy(2),
    requests({ captured, deliver }) {
      const body = captured({ merchantReference: 'Zimmer ¾ – 東京 🎫', reason: '\u2028"\\/' });
      return [deliver(body), deliver(body, { text: JSON.stringify(body).replaceAll('¾', '\\u00be') })];
    },
  },
  {
    name: 'spelled-otherwise',
    sends: 'JSON with line breaks, and an amount of 10.50, as the relay forwards it',
    grade: 'C',
    mend: 'verify the bytes as they came, and the amount as it is written: 10.50 is not 10.5',
    read: easy(1),
    requests({ captured, deliver }) {
      const body = captured();
      const text = JSON.stringify(body, null, 2).replace('"amount": 1050', '"amount": 10.50');
      return [deliver(body, { text, amount: '10.50' })];
    },
  },
  {
    name: 'large',
    sends: 'a body of 32 KB: all the metadata that there may be',
    grade: 'C',
    mend: 'allow bodies of 64 KiB',
    read: BODY,
    requests({ captured, deliver }) {
      const pairs = Array.from({ length: 20 }, (_, index) => [`key-${index}`, '€'.repeat(500)]);
      return [deliver(captured({ metadata: Object.fromEntries(pairs) }))];
    },
  },
  {
    name: 'large-amount',
    sends: 'an amount of twelve digits',
    grade: 'C',
    mend: 'keep amounts in 64 bits: a 32-bit integer ends at 21 474 836.47',
    read: easy(1),
    requests: ({ captured, deliver }) => [deliver(captured({ amount: 999_999_999_999 }))],
  },
  {
    name: 'clock-behind',
    sends: 'a delivery signed four minutes ago',
    grade: 'D',
    mend: 'allow 5 minutes: clocks differ, and deliveries wait in networks',
    read: besides(4),
    requests: ({ captured, deliver }) => [deliver(captured(), { fromNowSeconds: -4 * MINUTE_SECONDS })],
  },
  {
    name: 'clock-ahead',
    sends: 'a delivery signed four minutes from now',
    grade: 'D',
    mend: 'allow 5 minutes in both directions: compare the absolute difference',
    read: besides(4),
    requests: ({ captured, deliver }) => [deliver(captured(), { fromNowSeconds: 4 * MINUTE_SECONDS })],
  },
  {
    name: 'one-connection',
    sends: 'three deliveries over one connection',
    grade: 'D',
    mend: 'end each answer, and either keep the connection or say Connection: close',
    read: DELIVERY,
    isOneConnection: true,
    requests: ({ captured, deliver }) => Array.from({ length: 3 }, () => deliver(captured())),
  },
];

function threeDaysAgo(): string {
  return new Date(Date.now() - 3 * 24 * 60 * MINUTE_SECONDS * 1_000).toISOString();
}

/** A delivery that another secret has signed, too. X-Service-Signature is ours: the older secret makes it. */
function besideAnother({ captured, deliver }: Sample, ours: 'first' | 'second') {
  const body = captured();
  const sent = deliver(body);
  const { 'webhook-id': id = '', 'webhook-signature': own } = sent.headers;
  const other = deliver(body, { id, secret: foreignSecret() }).headers['webhook-signature'];
  return withHeaders(sent, { 'webhook-signature': ours === 'first' ? `${own} ${other}` : `${other} ${own}` });
}
