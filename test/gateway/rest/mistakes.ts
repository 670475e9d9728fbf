/** Frequent mistakes of new users, and the answer to each. */
import { API_KEY, type Ask } from '../stage.ts';
import { CAPTURE_HOLD, CREATE_HOLD, CREATE_OCT, HOLD_ID, PREAUTHORIZATION_ID } from './examples.ts';

const CARD = '4242424242424242';
export const HOLD = 'POST /preauthorization';
export const CAPTURE = 'POST /preauthorization/authorization';
const RELEASE = 'POST /preauthorization/release';
const UNITS = '10.50 EUR is 1050';
const SEND_KEY =
  'Send the header `Authorization: Bearer <API key>`. A key elsewhere, in the URL or the body, is not read.';
const UNKNOWN_KEY = 'The API key in the Authorization header is unknown or revoked.';
const NO_KEY =
  'This is no API key, which the operator gives to the merchant. The operator token is for /operator and /metrics.';
const SEE_DOCS = 'The routes are listed at /docs.';
const RELAY_PATHS =
  'In /webhook/processor/{kind}/{statusInfo}, kind is payment or oct; statusInfo is a letter, then at most 31 letters, ' +
  `digits, _ or -. ${SEE_DOCS}`;
const RETURN_URL = 'returnUrl: must be an https URL without user name and password; http only for loopback';
const NOT_REQUEST_ID =
  'This is a preauthorizationId; a requestId (a UUID) is taken here. Keep the preauthorizationId out of URLs.';

/** The status, the code, and `field: message` of each error, or the detail when no field is wrong. */
type Expected = readonly [status: number, code: string, ...said: string[]];
type Mistake = readonly [name: string, route: string, ask: Ask, expected: Expected];

const invalid = (...said: string[]): Expected => [400, 'INVALID_REQUEST', ...said];
export const hold = (wrong: object): Ask => ({ body: { ...CREATE_HOLD, ...wrong } });
const amount = (source: string): Ask => ({ body: JSON.stringify(CREATE_HOLD).replace('10000', source) });
export const capture = (wrong: object): Ask => ({ body: { ...CAPTURE_HOLD, ...wrong } });
const keyed = (key: string): Ask => ({ body: CREATE_HOLD, headers: { 'idempotency-key': key } });
const credential = (authorization?: string): Ask => ({
  body: CREATE_HOLD,
  apiKey: null,
  ...(authorization !== undefined && { headers: { authorization } }),
});

const BODIES: Mistake[] = [
  ['a field left out', HOLD, hold({ amount: undefined }), invalid('amount: is required')],
  ['a time left out', 'POST /deliveries/recover', { body: {} }, invalid('since: is required')],
  [
    'seconds since 1970',
    HOLD,
    hold({ captureAt: 1_795_656_893 }),
    invalid('captureAt: must be an RFC 3339 time with its zone, such as 2026-11-21T12:00:00Z'),
  ],
  [
    'nothing in it',
    HOLD,
    { body: {} },
    invalid('amount: is required', 'currency: is required', 'terminalId: is required', 'userId: is required'),
  ],
  ['amount null', HOLD, hold({ amount: null }), invalid('amount: must be a number, not null')],
  ['amount 10.5', HOLD, amount('10.5'), invalid(`amount: must be a whole number of minor units: ${UNITS}`)],
  ['amount 10.50', HOLD, amount('10.50'), invalid(`amount: must be a whole number of minor units: ${UNITS}`)],
  [
    'amount 1050.00',
    HOLD,
    amount('1050.00'),
    invalid('amount: must be a whole number, written without a fraction or an exponent'),
  ],
  [
    'amount "1050"',
    HOLD,
    amount('"1050"'),
    invalid(`amount: must be a number of minor units, without quotes: ${UNITS}`),
  ],
  ['amount 0', HOLD, amount('0'), invalid('amount: must be at least 1')],
  ['a negative amount', HOLD, amount('-5'), invalid('amount: must be at least 1')],
  ['an amount too large', HOLD, amount('1000000000000'), invalid('amount: must be at most 999999999999')],
  ['an amount of 20 digits', HOLD, amount('12345678901234567890'), invalid('amount: must be at most 999999999999')],
  [
    'an amount with an object in it',
    HOLD,
    hold({ amount: { value: 5 } }),
    invalid('amount: must be a number, not an object'),
  ],
  ['an unknown currency', HOLD, hold({ currency: 'XYZ' }), invalid('currency: must be an ISO 4217 code, such as EUR')],
  [
    'a currency in small letters',
    HOLD,
    hold({ currency: 'eur' }),
    invalid('currency: must be three capital letters, such as EUR'),
  ],
  ['a currency by its number', HOLD, hold({ currency: 978 }), invalid('currency: must be a string, not a number')],
  ['an unknown field', HOLD, hold({ colour: 'red' }), invalid('colour: is not a known field')],
  [
    'a typing error in a name',
    HOLD,
    hold({ merchantReferense: 'a' }),
    invalid('merchantReferense: is not a known field: did you mean merchantReference?'),
  ],
  [
    'a name with underscores',
    HOLD,
    hold({ merchant_reference: 'a' }),
    invalid('merchant_reference: is not a known field: did you mean merchantReference?'),
  ],
  [
    'amount where amountToCapture belongs',
    CAPTURE,
    capture({ amountToCapture: undefined, amount: 5 }),
    invalid('amountToCapture: is required', 'amount: is not a known field: did you mean amountToCapture?'),
  ],
  ['a field twice', HOLD, { body: `{"amount":1,"amount":2}` }, invalid('amount: is given twice in one object')],
  ['a userId that is a number', HOLD, hold({ userId: 7 }), invalid('userId: must be a string, not a number')],
  ['an empty userId', HOLD, hold({ userId: '' }), invalid('userId: must have at least 1 character')],
  ['text that is too long', HOLD, hold({ userId: 'x'.repeat(65) }), invalid('userId: must have at most 64 characters')],
  [
    'a terminalId with a space',
    HOLD,
    hold({ terminalId: 'till 1' }),
    invalid('terminalId: may have letters, digits, dot, _ and - only'),
  ],
  [
    'a tokenId with a space',
    '/oct',
    { body: { ...CREATE_OCT, tokenId: 'tok 1' } },
    invalid('tokenId: may have letters, digits, _ and - only'),
  ],
  ['a card number as tokenId', HOLD, hold({ tokenId: CARD }), invalid('tokenId: must not contain a card number')],
  [
    'a card number in a description',
    HOLD,
    hold({ description: `order ${CARD}` }),
    invalid('description: must not contain a card number'),
  ],
  ['saveCard as text', HOLD, hold({ saveCard: 'yes' }), invalid('saveCard: must be true or false')],
  ['finalCapture as 1', CAPTURE, capture({ finalCapture: 1 }), invalid('finalCapture: must be true or false')],
  ['a returnUrl without a scheme', HOLD, hold({ returnUrl: 'shop.example/done' }), invalid(RETURN_URL)],
  ['a returnUrl with a password', HOLD, hold({ returnUrl: 'https://shop:secret@shop.example/' }), invalid(RETURN_URL)],
  ['a returnUrl by http', HOLD, hold({ returnUrl: 'http://shop.example/' }), invalid(RETURN_URL)],
  ['metadata as text', HOLD, hold({ metadata: 'red' }), invalid('metadata: must be an object, not a string')],
  ['metadata as a list', HOLD, hold({ metadata: ['red'] }), invalid('metadata: must be an object, not an array')],
  [
    'a number in metadata',
    HOLD,
    hold({ metadata: { size: 5 } }),
    invalid('metadata.size: must be a string, not a number'),
  ],
  [
    'another merchant',
    HOLD,
    hold({ merchantId: 'bolt' }),
    [403, 'FORBIDDEN', 'merchantId is not the merchant that the API key names.'],
  ],
  [
    'a malformed merchantId',
    HOLD,
    hold({ merchantId: '1' }),
    invalid('merchantId: must be a letter, then at most 31 letters, digits, _ or -'),
  ],
  ['neither id', RELEASE, { body: {} }, invalid('preauthorizationId: is required, or else requestId: one of the two')],
  [
    'both ids',
    RELEASE,
    { body: { preauthorizationId: PREAUTHORIZATION_ID, requestId: HOLD_ID } },
    invalid('preauthorizationId: must be left out beside requestId: one of the two'),
  ],
  [
    'a requestId as preauthorizationId',
    CAPTURE,
    capture({ preauthorizationId: HOLD_ID }),
    [
      404,
      'PREAUTHORIZATION_NOT_FOUND',
      'This is a requestId; preauthorizationId takes the value that begins with pre_, from the answer that ' +
        'placed the hold.',
    ],
  ],
  [
    'a preauthorizationId as requestId',
    RELEASE,
    { body: { requestId: PREAUTHORIZATION_ID } },
    [404, 'PREAUTHORIZATION_NOT_FOUND', NOT_REQUEST_ID],
  ],
  ['no body', HOLD, { body: '' }, invalid('body: is empty: it must be a JSON object')],
  ['a list', HOLD, { body: '[]' }, invalid('body: must be a JSON object')],
  [
    'a comma too many',
    HOLD,
    { body: '{\n  "amount": 5,\n}' },
    invalid('body: is not valid JSON: see line 3, column 1'),
  ],
  ['single quotes', HOLD, { body: "{'amount': 5}" }, invalid('body: is not valid JSON: see line 1, column 2')],
  ['a bracket too few', HOLD, { body: '{"amount": 5' }, invalid('body: is not valid JSON: see line 1, column 13')],
  [
    'a text that is not closed',
    HOLD,
    { body: '{"userId": "a}' },
    invalid('body: is not valid JSON: see line 1, column 15'),
  ],
  [
    'a name with a control character',
    HOLD,
    { body: '{"amount\\u0000": 5}' },
    invalid('(unprintable): is a name with a control character'),
  ],
  [
    'more than the largest body',
    HOLD,
    { body: 'x'.repeat(65 * 1024) },
    [413, 'PAYLOAD_TOO_LARGE', 'The body is larger than 64 KiB, the most that is taken here.'],
  ],
  [
    'a form',
    HOLD,
    { body: 'amount=5', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    [
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'The body must be JSON in UTF-8, sent with the header Content-Type: application/json.',
    ],
  ],
  [
    'an idempotency key with a space',
    HOLD,
    keyed('order 1'),
    invalid('Idempotency-Key: must be 1 to 255 visible ASCII characters'),
  ],
  [
    'an idempotency key too long',
    HOLD,
    keyed('k'.repeat(256)),
    invalid('Idempotency-Key: must be 1 to 255 visible ASCII characters'),
  ],
];

const CREDENTIALS: Mistake[] = [
  ['no key', HOLD, credential(), [401, 'UNAUTHENTICATED', SEND_KEY]],
  ['the key without Bearer', HOLD, credential(API_KEY), [401, 'UNAUTHENTICATED', SEND_KEY]],
  ['Basic instead of Bearer', HOLD, credential(`Basic ${btoa(`acme:${API_KEY}`)}`), [401, 'UNAUTHENTICATED', SEND_KEY]],
  [
    'the key in the query',
    `GET /preauthorization?apiKey=${API_KEY}`,
    { apiKey: null },
    [401, 'UNAUTHENTICATED', SEND_KEY],
  ],
  ['an operator token', HOLD, credential(`Bearer ${'t'.repeat(43)}`), [401, 'UNAUTHENTICATED', NO_KEY]],
  ['an unknown key', HOLD, credential(`Bearer hf_${'x'.repeat(43)}`), [401, 'UNAUTHENTICATED', UNKNOWN_KEY]],
  ['a key cut short', HOLD, credential(`Bearer ${API_KEY.slice(0, -1)}`), [401, 'UNAUTHENTICATED', UNKNOWN_KEY]],
];

const PATHS: Mistake[] = [
  [
    'a slash at the end',
    `${HOLD}/`,
    hold({}),
    [404, 'NOT_FOUND', `The path has no slash at its end: /preauthorization. ${SEE_DOCS}`],
  ],
  [
    'a slash at the end of a path with an id',
    `GET /oct/${HOLD_ID}/`,
    {},
    [404, 'NOT_FOUND', `The path has no slash at its end: /oct/{requestId}. ${SEE_DOCS}`],
  ],
  [
    'a path in capitals',
    'GET /Operations',
    {},
    [404, 'NOT_FOUND', `Paths are written exactly so: /operations. ${SEE_DOCS}`],
  ],
  ['an unknown path', 'GET /v1/charges', {}, [404, 'NOT_FOUND', `There is no such path. ${SEE_DOCS}`]],
  ['an unknown kind at the relay', 'POST /webhook/processor/card/x', hold({}), [404, 'NOT_FOUND', RELAY_PATHS]],
  ['a malformed statusInfo at the relay', 'POST /webhook/processor/oct/1x', hold({}), [404, 'NOT_FOUND', RELAY_PATHS]],
  [
    'an unknown path of the relay',
    'POST /webhook/processor/oct/x/y',
    hold({}),
    [404, 'NOT_FOUND', `There is no such path. POST is for /webhook/processor/{kind}/{statusInfo}. ${SEE_DOCS}`],
  ],
  [
    'PUT',
    'PUT /preauthorization',
    hold({}),
    [405, 'METHOD_NOT_ALLOWED', `This path takes POST, HEAD, GET. ${SEE_DOCS}`],
  ],
  [
    'POST to a path that only GET takes',
    'POST /preauthorization/capture',
    capture({}),
    [
      405,
      'METHOD_NOT_ALLOWED',
      'This path takes HEAD, GET, PATCH. POST is for /preauthorization, /preauthorization/authorization, ' +
        '/preauthorization/release, /preauthorization/increment, /preauthorization/extend, /preauthorization/renew. ' +
        `${SEE_DOCS}`,
    ],
  ],
  [
    'an unknown path beside known ones',
    'POST /webhook-endpoint/tests',
    {},
    [404, 'NOT_FOUND', `There is no such path. POST is for /webhook-endpoint/test. ${SEE_DOCS}`],
  ],
  [
    'GET of the relay',
    'GET /webhook/processor/payment/captured',
    {},
    [405, 'METHOD_NOT_ALLOWED', `This path takes POST. ${SEE_DOCS}`],
  ],
  [
    'a preauthorizationId in the path',
    `GET /preauthorization/${PREAUTHORIZATION_ID}`,
    {},
    [404, 'PREAUTHORIZATION_NOT_FOUND', NOT_REQUEST_ID],
  ],
  [
    'a preauthorizationId as a filter',
    `GET /operations?holdRequestId=${PREAUTHORIZATION_ID}`,
    {},
    invalid('holdRequestId: is a preauthorizationId; give the requestId, and keep the preauthorizationId out of URLs'),
  ],
  ['a made-up id', 'GET /preauthorization/1', {}, [404, 'PREAUTHORIZATION_NOT_FOUND', 'No such preauthorization.']],
  [
    'an unknown filter',
    'GET /preauthorization?statuss=CAPTURED',
    {},
    invalid('statuss: is not a known field: did you mean status?'),
  ],
  [
    'the limit of another API',
    'GET /preauthorization?limit=3',
    {},
    invalid('limit: is not a known field: did you mean pageSize?'),
  ],
  ['an unknown status', 'GET /operations?status=PENDING', {}, invalid('status: must be one of OK, KO')],
  [
    'a page of 1000',
    'GET /preauthorization?pageSize=1000',
    {},
    invalid('pageSize: must be a whole number from 1 to 200'),
  ],
  [
    'a date without a time',
    'GET /preauthorization?createdFrom=2026-11-21',
    {},
    invalid('createdFrom: must be an RFC 3339 time with its zone, such as 2026-11-21T12:00:00Z'),
  ],
  [
    'a filter twice',
    'GET /preauthorization?status=CAPTURED&status=EXPIRED',
    {},
    invalid('status: is given more than once'),
  ],
];

export const MISTAKES: readonly Mistake[] = [...BODIES, ...CREDENTIALS, ...PATHS];
