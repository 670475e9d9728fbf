/** Frequent mistakes of new users, and the answer to each. */
import { API_KEY, type Ask } from '../stage.ts';
import { CAPTURE_HOLD, CREATE_HOLD, HOLD_ID, PREAUTHORIZATION_ID } from './examples.ts';

const CARD = '4242424242424242';
export const HOLD = 'POST /preauthorization';
export const CAPTURE = 'POST /preauthorization/authorization';
const RELEASE = 'POST /preauthorization/release';
const UNITS = '10.50 EUR is 1050';
const SEND_KEY =
  'Send the header `Authorization: Bearer <API key>`. A key elsewhere, in the URL or the body, is not read.';
const UNKNOWN_KEY = 'The API key in the Authorization header is unknown, revoked or expired.';
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
const credential = (authorization?: string): Ask => ({
  body: CREATE_HOLD,
  apiKey: null,
  ...(authorization !== undefined && { headers: { authorization } }),
});

const BODIES: Mistake[] = [
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
  ['amount 10.50', HOLD, amount('10.50'), invalid(`amount: must be a whole number of minor units: ${UNITS}`)],
  [
    'amount "1050"',
    HOLD,
    amount('"1050"'),
    invalid(`amount: must be a number of minor units, without quotes: ${UNITS}`),
  ],
  ['an unknown currency', HOLD, hold({ currency: 'XYZ' }), invalid('currency: must be an ISO 4217 code, such as EUR')],
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
  ['a card number as tokenId', HOLD, hold({ tokenId: CARD }), invalid('tokenId: must not contain a card number')],
  [
    'a card number in a description',
    HOLD,
    hold({ description: `order ${CARD}` }),
    invalid('description: must not contain a card number'),
  ],
  ['a returnUrl with a password', HOLD, hold({ returnUrl: 'https://shop:secret@shop.example/' }), invalid(RETURN_URL)],
  ['a returnUrl by http', HOLD, hold({ returnUrl: 'http://shop.example/' }), invalid(RETURN_URL)],
  [
    'another merchant',
    HOLD,
    hold({ merchantId: 'bolt' }),
    [403, 'FORBIDDEN', 'merchantId is not the merchant that the API key names.'],
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
  [
    'a comma too many',
    HOLD,
    { body: '{\n  "amount": 5,\n}' },
    invalid('body: is not valid JSON: see line 3, column 1'),
  ],
  ['single quotes', HOLD, { body: "{'amount': 5}" }, invalid('body: is not valid JSON: see line 1, column 2')],
  [
    'a name with a control character',
    HOLD,
    { body: '{"amount\\u0000": 5}' },
    invalid('(unprintable): is a name with a control character'),
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
    'another merchant at capture',
    CAPTURE,
    capture({ merchantId: 'bolt' }),
    [403, 'FORBIDDEN', 'merchantId is not the merchant that the API key names.'],
  ],
  [
    'a grouped card number',
    HOLD,
    hold({ description: '4242 4242 4242 4242' }),
    invalid('description: must not contain a card number'),
  ],
  [
    'a card number as a metadata key',
    HOLD,
    hold({ metadata: { [CARD]: 'a' } }),
    invalid('metadata.(unprintable): must not contain a card number'),
  ],
  [
    'a card number as a metadata value',
    HOLD,
    hold({ metadata: { a: CARD } }),
    invalid('metadata.a: must not contain a card number'),
  ],
  [
    'a card number in returnUrl',
    HOLD,
    hold({ returnUrl: `https://a.example/${CARD}` }),
    invalid('returnUrl: must not contain a card number'),
  ],
  ...['ftp://a.example/', 'javascript:alert(1)', '/done', 'https://a.example/ b', 'http://127.0.0.1.evil.example/'].map(
    (returnUrl): Mistake => [`returnUrl ${returnUrl}`, HOLD, hold({ returnUrl }), invalid(RETURN_URL)],
  ),
  [
    'half a surrogate pair',
    HOLD,
    hold({ userId: '\ud800' }),
    invalid('userId: must not contain NUL or unpaired surrogates'),
  ],
  [
    'a wrong key before a wrong body',
    HOLD,
    { body: '{', headers: { authorization: 'Bearer x' } },
    [401, 'UNAUTHENTICATED', NO_KEY],
  ],
  [
    'thousands of parameters',
    `GET /operations?${Array.from({ length: 2_000 }, (_, at) => `a${at}`).join('&')}`,
    {},
    [400, 'INVALID_REQUEST', 'The query has more than 50 parameters.'],
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
    [
      404,
      'NOT_FOUND',
      `There is no such path. POST is for /webhook/processor/{kind}/{statusInfo}, /webhook/relay/{senderId}. ${SEE_DOCS}`,
    ],
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
];

export const MISTAKES: readonly Mistake[] = [...BODIES, ...CREDENTIALS, ...PATHS];
