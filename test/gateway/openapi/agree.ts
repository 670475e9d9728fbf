import assert from 'node:assert/strict';

/** Maps identifiers of the examples to those of the running service. */
export type Names = Map<string, string>;

/** Ids of endpoints begin with their purpose. */
const UUID = /^((webhook|internal)-)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const HANDLE = /^pre_[A-Za-z0-9_-]{32}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Fields whose value the service, the processor or the test's own address decides. */
const CHOSEN: ReadonlySet<string> = new Set([
  ...[
    'reference',
    'bankReference',
    'networkTransactionId',
    'checkoutUrl',
    'csrfToken',
    'address',
    'bodySha256',
    'signatureSha256Prefix',
  ],
  ...['apiKey', 'signingSecret', 'etag'],
]);
const LAST4_OF_KEY = /^(merchant\.|items\.\d+\.)?(apiKeys\.\d+\.)?last4$/;
/** Numbers that depend on other activity and on timing. */
const VARYING = /(Count|latencyMs|ageSeconds|sequence|position)$/;
/** The page of a hold that waits for its customer. */
const PAGE = 'nextAction.url';
/** Parts of a delivery or a streamed notification that differ in a test: address, signatures and time. */
const SENT = /^(content\.|items\.\d+\.)?(url|body|headers\.\d+\.value|headers\.(x-service-signature|webhook-.+))$/;
/** Remarks about an address, which differs in a test. */
const OF_ADDRESS = 'warnings';
/** Times beside a count, absent while it is zero, and the health of an endpoint that an attempt may change. */
const PASSING: ReadonlySet<string> = new Set([
  'oldestUnknownAt',
  'oldestDueAt',
  'failingSince',
  'pause',
  'pausedUntil',
]);

/** Asserts that an answer matches its example field by field; records identifiers that it sees first. */
export function agree(example: unknown, real: unknown, names: Names, path = ''): void {
  if (typeof example === 'string' && typeof real === 'string') agreeText(example, real, names, path);
  else if (typeof example === 'object' && example !== null) agreeFields(example, real, names, path);
  else if (VARYING.test(path)) assert.equal(typeof real, typeof example, path);
  else assert.equal(real, example, path);
}

function agreeFields(example: object, real: unknown, names: Names, path: string): void {
  assert(typeof real === 'object' && real !== null, path);
  assert.equal(Array.isArray(real), Array.isArray(example), path);
  if (path.split('.').at(-1) === OF_ADDRESS) return;
  assert.deepEqual(lastingFields(real), lastingFields(example), `fields of ${path || 'the answer'}`);
  for (const [name, value] of Object.entries(example)) {
    agree(value, (real as Record<string, unknown>)[name], names, path === '' ? name : `${path}.${name}`);
  }
}

function lastingFields(value: object): string[] {
  return Object.keys(value)
    .filter((name) => !PASSING.has(name))
    .sort();
}

/** Replaces the example's identifiers in a text by those of the running service. */
export function translate(text: string, names: Names): string {
  return [...names].reduce((translated, [example, real]) => translated.replaceAll(example, real), text);
}

function agreeText(example: string, real: string, names: Names, path: string): void {
  for (const form of [UUID, HANDLE]) {
    if (!form.test(example)) continue;
    assert.match(real, form, path);
    if (!names.has(example)) names.set(example, real);
  }
  if (TIME.test(example)) assert.match(real, TIME, path);
  else if (CHOSEN.has(path.split('.').at(-1) ?? '') || LAST4_OF_KEY.test(path) || path === PAGE || SENT.test(path))
    assert.notEqual(real, '', path);
  else assert.equal(real, translate(example, names), path);
}
