/**
 * Every route with one fault at a time, drawn from the OpenAPI document: refused with the documented code and the name
 * of the field. A new route or field is among them, and one without a bound is found.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { type SignedFields, signNotification } from '../../../client/webhooks/signature.ts';
import { startGateway } from '../../../gateway/gateway.ts';
import type { FieldError } from '../../../gateway/http/problem.ts';
import { createDocument, ROUTES } from '../../../gateway/openapi/document.ts';
import { GATEWAY_SETTINGS } from '../../../gateway/settings.ts';
import { openLog } from '../../../platform/log.ts';
import { readSettings } from '../../../platform/settings.ts';
import { atNight } from '../../at-night.ts';
import { rowsOf } from '../../services/core/rows-of.ts';
import { openMerchant } from '../../services/core/shop.ts';
import { openStage } from '../../services/core/stage.ts';
import { forSuite } from '../../suite.ts';
import { OPERATOR_TOKEN } from '../fake-core.ts';
import { HOLD_ID } from '../rest/examples.ts';
import { API_KEY, MERCHANTS, Stage } from '../stage.ts';
import { type Described, refusalsOf } from './described.ts';
import { drawingFaults, type Sent } from './faults.ts';

/** They take no input, or any: to an unknown sender everything is the same 401. */
const OTHERS = ['relaySenderNotification', 'signOut', 'getSession', 'getHealth', 'getReadiness'];
/** So that a route with few sorts of faults sees each. */
const LEAST = 12;
const SEED = atNight(Date.now() % 2 ** 31, 41);
const DOCUMENT = createDocument();
const { faultsOf, unknownsOf } = drawingFaults(DOCUMENT);
const LIMITS = { REST_RATE_PER_SECOND: '10000', TRUSTED_PROXY_HOPS: '1' };

/** Parameters of paths that are no UUIDs. */
const VALID: Readonly<Record<string, string>> = {
  merchantId: 'acme',
  endpointKind: 'webhook',
  endpointId: 'default',
  kind: 'payment',
  statusInfo: 'captured',
};

/** Signs what a notification says, as far as it can be read, so that a fault is the only one. */
function signatureOf(secret: string, body: string): string {
  const text = (name: string) => new RegExp(`"${name}":("?)(.*?)\\1[,}]`, 's').exec(body)?.[2] ?? '';
  const [requestId, status, amount, currency] = ['requestId', 'status', 'amount', 'currency'].map(text);
  const fields = { merchantId: text('merchantId'), requestId, status, amount, currency } as SignedFields;
  return signNotification(secret, fields);
}

/** A gateway and what stands behind it. */
interface Door {
  readonly port: number;
  readonly apiKey: string;
  /** Of notifications of the same merchant. */
  readonly secret: string;
  readonly operatorToken: string;
  /** Everything that a request may have caused. */
  traces(): Promise<unknown>;
  close(): Promise<void>;
}

/** Shows that a refused request is not passed on. */
async function openRecording(): Promise<Door> {
  const stage = await new Stage().open(LIMITS);
  return {
    port: stage.gateway.port,
    apiKey: API_KEY,
    secret: MERCHANTS[0]?.secrets?.[0] ?? assert.fail(),
    operatorToken: OPERATOR_TOKEN,
    traces: async () => stage.core.calls.map(({ method }) => method),
    close: () => stage.close(),
  };
}

/** Shows that it stores nothing, and sends nothing to the processor. */
async function openReal(): Promise<Door> {
  const stage = await openStage();
  stage.clock.advance(Date.now() - stage.clock.now());
  const { signingSecret: secret } = await openMerchant(stage, 'acme');
  const { merchants } = stage.channel('operator');
  const { key: apiKey } = await merchants.createApiKey({ merchantId: 'acme', managesWebhook: true });
  const { tokens, cores } = stage;
  const settings = { GATEWAY_TOKEN: tokens.gateway, CORE_URL: `127.0.0.1:${cores[0]?.corePort}`, PORT: '0', ...LIMITS };
  const gateway = await startGateway(readSettings(GATEWAY_SETTINGS, settings), { log: openLog('test', 'silent') });
  await gateway.ready;
  return {
    port: gateway.port,
    apiKey,
    secret,
    operatorToken: tokens.operator,
    traces: async () => ({ rows: await rowsOf(stage), sent: stage.oracle.entries().length }),
    async close() {
      await gateway.close();
      await stage.close();
    },
  };
}

/** How often each sort of fault of a route is drawn, on average. */
for (const [behind, open, times] of [
  ['a core that records its calls', openRecording, atNight(50, 2)],
  ['a real core', openReal, atNight(10, 0.5)],
] as const) {
  describe(`hostile input before ${behind}`, () => {
    const door = forSuite(open);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let untouched: unknown;
    let asked = 0;
    before(async () => {
      untouched = await door.traces();
    });
    after(() => agent.destroy());

    for (const [name, route] of Object.entries(ROUTES)) {
      if (OTHERS.includes(name)) continue;
      const { path: template, method } = route;
      const described = DOCUMENT.paths[template]?.[method] as unknown as Described;
      const names = Object.keys(route.parameters ?? {});
      const params = Object.fromEntries(names.map((each) => [each, VALID[each] ?? HOLD_ID]));
      const faults = faultsOf(method, described, template, params);
      if (open === openReal) faults.push(...unknownsOf(method, described, template, params));
      const statuses = refusalsOf(described);
      const send = (sent: Sent) =>
        ask(method, { ...sent, headers: { ...sent.headers, ...credentialOf(template, route.credential, sent) } });
      if (faults.length === 0) continue;
      it(`is refused by ${name}`, async () => {
        await fc.assert(
          fc.asyncProperty(fc.oneof(...faults), async (fault) => {
            const { status, type, body } = await send(fault);
            const { code, field } = fault;
            const shown = `${code} ${field}: ${JSON.stringify(body)}`;
            assert.deepEqual([status, type], [statuses.get(code), 'application/problem+json'], shown);
            assert.deepEqual([body.code, body.status, body.type], [code, status, `/docs/refusals#${code}`], shown);
            const errors: FieldError[] = body.errors ?? [];
            const isNamed = errors.every((each) => each.field === field || each.field.startsWith(`${field}.`));
            assert(isNamed && errors.length > 0 === (field !== undefined), shown);
            for (const said of [body.detail, ...errors.map(({ message }) => message)]) assert.match(said, /\w/, shown);
          }),
          { numRuns: Math.max(LEAST, Math.ceil(times * faults.length)), seed: SEED },
        );
      });
    }

    it('leaves no trace', async () => assert.deepEqual(await door.traces(), untouched));

    function credentialOf(path: string, credential: string, { body = '' }: Sent): Record<string, string> {
      if (credential === 'none') return {};
      if (credential === 'serviceSignature') return { 'x-service-signature': signatureOf(door.secret, String(body)) };
      return { authorization: `Bearer ${path.startsWith('/operator') ? door.operatorToken : door.apiKey}` };
    }

    async function ask(method: string, { path, body, headers }: Sent) {
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      // Sign-in and relay limit what one network may ask.
      const from = { 'x-forwarded-for': `10.${[16, 8, 0].map((bits) => (asked >> bits) & 255).join('.')}` };
      asked += 1;
      const asking = request({ port: door.port, path, method, agent, headers: { ...headers, ...length, ...from } });
      asking.end(body);
      const [response] = await once(asking, 'response');
      const [type] = (response.headers['content-type'] ?? '').split(';');
      // What is accepted may be a stream, which does not end.
      if (response.statusCode < 400) response.destroy();
      const said = response.statusCode < 400 ? '{}' : await text(response);
      return { status: response.statusCode as number, type, body: JSON.parse(said) };
    }
  });
}
