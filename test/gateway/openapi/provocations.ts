/** Provokes each refusal as a merchant can: at the running service, or at a gateway with a scripted core. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { signNotification } from '../../../client/webhooks/signature.ts';
import type { ProblemCode } from '../../../gateway/http/refusals.ts';
import type { ROUTES } from '../../../gateway/openapi/document.ts';
import type { Shop } from '../../../services/quickstart/shop.ts';
import type { Stack } from '../../stack.ts';
import { refusal } from '../fake-core.ts';
import { API_KEY, MERCHANTS, OTHER_API_KEY, type Stage } from '../stage.ts';

/** The parts of a refusal that tests check. */
export interface Refused {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of the body.
  readonly body: any;
  readonly headers: Headers;
}

/** The running service, and a gateway in front of a fake core. */
export interface Provoked {
  readonly stack: Stack;
  readonly stage: Stage;
}

/** The operation that refuses, and how to provoke it. */
type Provocation = readonly [route: keyof typeof ROUTES, provoke: (at: Provoked) => Promise<Refused>];

const ORDER = { tokenId: 'tok_sandbox_ok', amount: 1000, currency: 'EUR', terminalId: 'till-1', userId: 'provoker' };
const NOBODY = randomUUID();

const create = (shop: Shop, wrong: object = {}, headers: Record<string, string> = {}) =>
  shop.post('/preauthorization', { ...ORDER, ...wrong }, headers);
const capture = (shop: Shop, preauthorizationId: string, amountToCapture = 1000) =>
  shop.post('/preauthorization/authorization', { preauthorizationId, amountToCapture });

const refund = (shop: Shop, captureRequestId: string, amount?: number) =>
  shop.post('/refund', { captureRequestId, amount });

/** Captures all of a hold; the outcome may be unknown yet. */
async function captured(shop: Shop, tokenId?: string): Promise<string> {
  const { status: answered, body } = await capture(shop, (await placed(shop, tokenId)).preauthorizationId);
  assert(answered === 200 || answered === 202, JSON.stringify(body));
  return body.requestId;
}

async function placed(shop: Shop, tokenId = ORDER.tokenId): Promise<{ preauthorizationId: string; expiresAt: string }> {
  const { status: answered, body } = await create(shop, { tokenId });
  assert.equal(answered, 201, JSON.stringify(body));
  return body;
}

/** At the running service. */
const REAL = {
  INVALID_REQUEST: ['createPreauthorization', ({ stack }) => create(stack.shop, { amount: 1.5 })],
  TOKEN_INVALID: ['createPreauthorization', ({ stack }) => create(stack.shop, { tokenId: 'tok_sandbox_invalid' })],
  TIME_OUT_OF_RANGE: [
    'createPreauthorization',
    ({ stack }) => create(stack.shop, { expectedCaptureAt: '2020-01-01T00:00:00Z' }),
  ],
  CARD_DECLINED: [
    'createPreauthorization',
    ({ stack }) => create(stack.shop, { tokenId: 'tok_sandbox_insufficient_funds' }),
  ],
  PROCESSOR_ERROR: [
    'createOct',
    ({ stack }) => stack.shop.post('/oct', { ...ORDER, tokenId: 'tok_sandbox_processor_error' }),
  ],
  FORBIDDEN: ['createPreauthorization', ({ stack }) => create(stack.shop, { merchantId: 'somebody-else' })],
  UNAUTHENTICATED: ['createPreauthorization', ({ stack }) => create(stack.shop, {}, { authorization: 'Bearer hf_no' })],
  PREAUTHORIZATION_NOT_FOUND: ['getPreauthorization', ({ stack }) => stack.shop.get(`/preauthorization/${NOBODY}`)],
  OPERATION_NOT_FOUND: ['getOperation', ({ stack }) => stack.shop.get(`/operations/${NOBODY}`)],
  PRECONDITION_FAILED: ['updateMerchant', ({ stack }) => saveLate(stack)],
  NOT_FOUND: ['relayNotification', ({ stack }) => notify(stack, '1st')],
  METHOD_NOT_ALLOWED: ['relayNotification', ({ stack }) => stack.shop.get('/webhook/processor/payment/captured')],
  PAYLOAD_TOO_LARGE: ['createPreauthorization', ({ stack }) => create(stack.shop, { userId: 'x'.repeat(70_000) })],
  UNSUPPORTED_MEDIA_TYPE: [
    'createPreauthorization',
    ({ stack }) => create(stack.shop, {}, { 'content-type': 'text/plain' }),
  ],
  AMOUNT_EXCEEDS_HOLD: [
    'capturePreauthorization',
    async ({ stack: { shop } }) => capture(shop, (await placed(shop)).preauthorizationId, 1001),
  ],
  AMOUNT_EXCEEDS_CAPTURE: ['createRefund', async ({ stack: { shop } }) => refund(shop, await captured(shop), 1001)],
  CAPTURE_NOT_FOUND: ['createRefund', ({ stack }) => refund(stack.shop, NOBODY)],
  CAPTURE_NOT_SETTLED: [
    'createRefund',
    async ({ stack: { shop } }) => refund(shop, await captured(shop, 'tok_sandbox_capture_accepted')),
  ],
  OPERATION_NOT_FINAL: [
    'correctReview',
    async ({ stack }) => correct(stack, await captured(stack.shop, 'tok_sandbox_capture_accepted')),
  ],
  OUTCOME_UNCHANGED: ['correctReview', async ({ stack }) => correct(stack, await captured(stack.shop), 'OK')],
  NOT_CORRECTABLE: [
    'correctReview',
    async ({ stack }) => {
      const captureRequestId = await captured(stack.shop);
      await refund(stack.shop, captureRequestId);
      return correct(stack, captureRequestId);
    },
  ],
  AMOUNT_TOO_LARGE: [
    'incrementPreauthorization',
    async ({ stack: { shop } }) => {
      const { preauthorizationId } = await placed(shop);
      return shop.post('/preauthorization/increment', { preauthorizationId, amountToAdd: 999_999_999_000 });
    },
  ],
  HOLD_CAPTURED: [
    'capturePreauthorization',
    async ({ stack: { shop } }) => {
      const { preauthorizationId } = await placed(shop);
      await capture(shop, preauthorizationId);
      return capture(shop, preauthorizationId, 1);
    },
  ],
  HOLD_RELEASED: [
    'capturePreauthorization',
    async ({ stack: { shop } }) => {
      const { preauthorizationId } = await placed(shop);
      await shop.post('/preauthorization/release', { preauthorizationId });
      return capture(shop, preauthorizationId);
    },
  ],
  HOLD_EXPIRED: [
    'capturePreauthorization',
    async ({ stack: { shop } }) => {
      const { expiresAt, preauthorizationId } = await placed(shop, 'tok_sandbox_expires_2s');
      while (Date.now() <= Date.parse(expiresAt)) await delay(Date.parse(expiresAt) - Date.now() + 1);
      return capture(shop, preauthorizationId);
    },
  ],
  HOLD_NOT_PLACED: [
    'releasePreauthorization',
    async ({ stack: { shop } }) => {
      const { body } = await create(shop, { tokenId: 'tok_sandbox_declined' });
      return shop.post('/preauthorization/release', { requestId: body.requestId });
    },
  ],
  MULTIPLE_CAPTURES_NOT_ALLOWED: [
    'capturePreauthorization',
    async ({ stack: { single } }) => {
      const { preauthorizationId } = await placed(single);
      await capture(single, preauthorizationId, 400);
      return capture(single, preauthorizationId, 400);
    },
  ],
  CAPTURE_IN_FLIGHT: [
    'capturePreauthorization',
    async ({ stack: { shop } }) => {
      const { preauthorizationId } = await placed(shop, 'tok_sandbox_capture_timeout_applied');
      return refusedOf([capture(shop, preauthorizationId), capture(shop, preauthorizationId)]);
    },
  ],
  NOT_SUPPORTED: [
    'capturePreauthorization',
    async ({ stack: { shop } }) =>
      capture(shop, (await placed(shop, 'tok_sandbox_single_capture')).preauthorizationId, 1),
  ],
  IDEMPOTENCY_IN_FLIGHT: [
    'createPreauthorization',
    async ({ stack: { shop } }) => {
      const key = { 'Idempotency-Key': randomUUID() };
      const wrong = { tokenId: 'tok_sandbox_slow' };
      return refusedOf([create(shop, wrong, key), create(shop, wrong, key)]);
    },
  ],
  IDEMPOTENCY_KEY_REUSED: [
    'createPreauthorization',
    async ({ stack: { shop } }) => {
      const key = { 'Idempotency-Key': randomUUID() };
      await create(shop, {}, key);
      return create(shop, { amount: 999 }, key);
    },
  ],
} as const satisfies Partial<Record<ProblemCode, Provocation>>;

/** At a gateway with a scripted core. */
const STAGED = {
  SIGNATURE_REQUIRED: [
    'capturePreauthorization',
    async ({ stage }) => {
      const publicKey = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }) as string;
      const apiKey = `hf_${'s'.repeat(43)}`;
      stage.core.setMerchants([...MERCHANTS, { merchantId: 'signs', apiKeys: [apiKey], captureKey: publicKey }]);
      const body = { preauthorizationId: 'pre_', amountToCapture: 1 };
      return known(() => stage.ask('POST', '/preauthorization/authorization', { body, apiKey }));
    },
  ],
  STREAM_TOKEN_TOO_OLD: [
    'watchOperations',
    async ({ stage }) => {
      const tooOld = refusal(status.OUT_OF_RANGE, { reason: 'STREAM_TOKEN_TOO_OLD' });
      stage.core.onWatch = (call) => void call.emit('error', tooOld);
      return stage.ask('GET', '/operations/stream', { headers: { 'last-event-id': '1' } });
    },
  ],
  OCT_NOT_ALLOWED: [
    'createOct',
    ({ stage }) => {
      stage.core.answers.set('createOct', () => {
        throw refusal(status.PERMISSION_DENIED, { reason: 'OCT_NOT_ALLOWED' });
      });
      const body = { tokenId: 'tok', amount: 1001, currency: 'EUR', terminalId: 'till-1', userId: 'ann' };
      return stage.ask('POST', '/oct', { body });
    },
  ],
  LIMIT_EXCEEDED: [
    'createRefund',
    ({ stage }) => {
      const metadata = { limit: '1000', resetsAt: '2027-01-02T00:00:00.000Z' };
      stage.core.answers.set('createRefund', () => {
        throw refusal(status.FAILED_PRECONDITION, { reason: 'LIMIT_EXCEEDED', metadata });
      });
      return stage.ask('POST', '/refund', { body: { captureRequestId: NOBODY } });
    },
  ],
  HOLD_FROZEN: [
    'releasePreauthorization',
    ({ stage }) => {
      stage.core.answers.set('releasePreauthorization', () => {
        throw refusal(status.FAILED_PRECONDITION, {
          reason: 'HOLD_FROZEN',
          metadata: { frozenBecause: 'UNKNOWN_CHARGE' },
        });
      });
      return stage.ask('POST', '/preauthorization/release', { body: { requestId: NOBODY } });
    },
  ],
  INTERNAL: ['getOct', ({ stage }) => stage.ask('GET', `/oct/${NOBODY}`)],
  UNAVAILABLE: [
    'getOperation',
    ({ stage }) => {
      stage.core.answers.set('getOperation', () => {
        throw refusal(status.UNAVAILABLE, { reason: 'UNAVAILABLE' });
      });
      return stage.ask('GET', `/operations/${NOBODY}`);
    },
  ],
  RECONCILING: [
    'getPreauthorization',
    ({ stage }) => {
      stage.core.answers.set('getPreauthorization', () => {
        throw refusal(status.UNAVAILABLE, { reason: 'RECONCILING' });
      });
      return stage.ask('GET', `/preauthorization/${NOBODY}`);
    },
  ],
  RATE_LIMITED: [
    'listOperations',
    async ({ stage }) => {
      stage.core.answers.set('listOperations', () => ({}));
      const asked = Array.from({ length: 200 }, () => stage.ask('GET', '/operations', { apiKey: OTHER_API_KEY }));
      return refusedOf(asked);
    },
  ],
  OUTCOME_UNKNOWN: [
    'updatePreauthorization',
    ({ stage }) => {
      stage.core.answers.set('updatePreauthorization', () => {
        throw refusal(status.UNKNOWN, { reason: 'OUTCOME_UNKNOWN' });
      });
      return stage.ask('PATCH', `/preauthorization/${NOBODY}`, { body: { captureAt: null } });
    },
  ],
  REQUEST_TIMEOUT: ['createPreauthorization', ({ stage }) => dawdle(stage)],
} as const satisfies Partial<Record<ProblemCode, Provocation>>;

export const PROVOCATIONS: Readonly<Record<ProblemCode, Provocation>> = { ...REAL, ...STAGED };

/** Saves the demo merchant as if it had been read before its last change. */
const asOperator = ({ file }: Stack) => ({
  authorization: `Bearer ${file.operatorToken}`,
  'content-type': 'application/json',
});

async function correct(stack: Stack, requestId: string, outcome = 'KO'): Promise<Refused> {
  const url = `${stack.file.baseUrl}/operator/reviews/${requestId}/correct`;
  const body = JSON.stringify({ outcome, reason: 'The processor says so' });
  return answered(await fetch(url, { method: 'POST', headers: asOperator(stack), body }));
}

const answered = async (answer: Response): Promise<Refused> => ({
  status: answer.status,
  headers: answer.headers,
  body: (await answer.json()) as Refused['body'],
});

async function saveLate(stack: Stack): Promise<Refused> {
  const { file } = stack;
  const headers = asOperator(stack);
  const url = `${file.baseUrl}/operator/merchants/${file.merchantId}`;
  const { name, contract } = (await (await fetch(url, { headers })).json()) as { name: string; contract: object };
  const body = JSON.stringify({ name, contract, etag: '0' });
  return answered(await fetch(url, { method: 'PUT', headers, body }));
}

/** Waits for all answers and returns the only refusal. */
async function refusedOf(answers: readonly Promise<Refused>[]): Promise<Refused> {
  const found = (await Promise.all(answers)).find(({ status: answered }) => answered >= 400);
  assert(found, 'one is refused');
  return found;
}

/** Repeats a request until the gateway has received the key. */
async function known(ask: () => Promise<Refused>): Promise<Refused> {
  let answer = await ask();
  while (answer.body.code === 'UNAUTHENTICATED') answer = await ask();
  return answer;
}

function notify(stack: Stack, statusInfo: string, requestId = randomUUID(), amount = 1000): Promise<Refused> {
  const { merchantId, signingSecret } = stack.file;
  const fields = { merchantId, requestId, status: 'OK', amount, currency: 'EUR' };
  const signature = signNotification(signingSecret, { ...fields, amount: String(amount) });
  return stack.shop.post(`/webhook/processor/payment/${statusInfo}`, fields, { 'X-Service-Signature': signature });
}

/** Announces a body and never sends it. */
function dawdle(stage: Stage): Promise<Refused> {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', 'content-length': '9' };
  return new Promise((resolve, reject) => {
    const asking = request(`${stage.origin}/preauthorization`, { method: 'POST', headers }, async (answer) => {
      const body = JSON.parse(await text(answer));
      asking.destroy();
      const told = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
      resolve({ status: answer.statusCode ?? 0, body, headers: new Headers(told) });
    });
    asking.once('error', reject).flushHeaders();
  });
}
