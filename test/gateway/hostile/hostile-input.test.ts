/**
 * Every route with one fault at a time, drawn from the OpenAPI document: refused with the documented code and the name
 * of the field. A new route or field is among them, and one without a bound is found.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
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
import { API_KEY, Stage } from '../stage.ts';
import { type Described, drawingFaults, type Sent } from './faults.ts';

/** The relay checks signatures first (test/gateway/relay/hostile.test.ts); the others take no input. */
const OTHERS = ['relayNotification', 'signOut', 'getSession', 'getHealth', 'getReadiness'];
const SEED = atNight(Date.now() % 2 ** 31, 41);
const DOCUMENT = createDocument();
const { faultsOf } = drawingFaults(DOCUMENT);
const LIMITS = { REST_RATE_PER_SECOND: '10000' };

/** A gateway and what stands behind it. */
interface Door {
  readonly port: number;
  readonly apiKey: string;
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
    operatorToken: OPERATOR_TOKEN,
    traces: async () => stage.core.calls.map(({ method }) => method),
    close: () => stage.close(),
  };
}

/** Shows that it stores nothing, and sends nothing to the processor. */
async function openReal(): Promise<Door> {
  const stage = await openStage();
  stage.clock.advance(Date.now() - stage.clock.now());
  const { apiKey } = await openMerchant(stage, 'acme');
  const { tokens, cores } = stage;
  const settings = { GATEWAY_TOKEN: tokens.gateway, CORE_URL: `127.0.0.1:${cores[0]?.corePort}`, PORT: '0', ...LIMITS };
  const gateway = await startGateway(readSettings(GATEWAY_SETTINGS, settings), { log: openLog('test', 'silent') });
  await gateway.ready;
  return {
    port: gateway.port,
    apiKey,
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
    before(async () => {
      untouched = await door.traces();
    });
    after(() => agent.destroy());

    for (const [name, route] of Object.entries(ROUTES)) {
      if (OTHERS.includes(name)) continue;
      const { path: template, method } = route;
      const described = DOCUMENT.paths[template]?.[method] as unknown as Described;
      const path = template.replace('{merchantId}', 'acme').replace('{endpointKind}', 'webhook');
      const faults = faultsOf(method, described, path.replace(/\{\w+\}/g, HOLD_ID));
      const send = (sent: Sent) =>
        ask(method, { ...sent, headers: { ...sent.headers, ...credentialOf(template, route.credential) } });
      if (faults.length === 0) continue;
      it(`is refused by ${name}`, async () => {
        await fc.assert(
          fc.asyncProperty(fc.oneof(...faults), async (fault) => {
            const { status, body } = await send(fault);
            assert.equal(status, fault.status, JSON.stringify(body));
            const errors: FieldError[] = body.errors ?? [];
            const { field } = fault;
            const isNamed = errors.every((each) => each.field === field || each.field.startsWith(`${field}.`));
            assert(isNamed && errors.length > 0 === (field !== undefined), `${field}: ${JSON.stringify(body)}`);
          }),
          { numRuns: Math.ceil(times * faults.length), seed: SEED },
        );
      });
    }

    it('leaves no trace', async () => assert.deepEqual(await door.traces(), untouched));

    function credentialOf(path: string, credential: string): Record<string, string> {
      if (credential === 'none') return {};
      return { authorization: `Bearer ${path.startsWith('/operator') ? door.operatorToken : door.apiKey}` };
    }

    async function ask(method: string, { path, body, headers }: Sent) {
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      const asking = request({ port: door.port, path, method, agent, headers: { ...headers, ...length } });
      asking.end(body);
      const [response] = await once(asking, 'response');
      return { status: response.statusCode as number, body: JSON.parse(await text(response)) };
    }
  });
}
