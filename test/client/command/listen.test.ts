/** `holdfast listen` against a core, a gateway that restarts, and a receiver that verifies. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { main } from '../../../client/command/holdfast.ts';
import { verifyNotification } from '../../../client/webhooks/signature.ts';
import { verify } from '../../../client/webhooks/verify.ts';
import { type Gateway, startGateway } from '../../../gateway/gateway.ts';
import { GATEWAY_SETTINGS } from '../../../gateway/settings.ts';
import { openLog } from '../../../platform/log.ts';
import { readSettings } from '../../../platform/settings.ts';
import { freePort } from '../../../services/quickstart/ports.ts';
import { serveLocally } from '../../local-server.ts';
import { openMerchant, sql } from '../../services/core/shop.ts';
import { openStage } from '../../services/core/stage.ts';
import { forSuite } from '../../suite.ts';

describe('holdfast listen', () => {
  const stage = forSuite(() => openStage());
  const acme = forSuite(() => openMerchant(stage, 'acme'));
  let port = 0;
  let gateway: Gateway | undefined;
  let env: Record<string, string>;
  let state = '';
  const received: { path: string; requestId: string }[] = [];
  let status = 200;
  const receiver = forSuite(() =>
    serveLocally(async (request, response) => {
      const body = await text(request);
      const notification = verify(request.headers, body, [acme.signingSecret], stage.clock.now());
      const { merchantId, requestId, amount, currency } = notification;
      const fields = { merchantId, requestId, status: notification.status, amount: String(amount), currency };
      assert(verifyNotification([acme.signingSecret], fields, request.headers['x-service-signature']));
      received.push({ path: request.url ?? '', requestId });
      response.writeHead(status).end();
    }),
  );

  async function start(): Promise<void> {
    const environment = {
      GATEWAY_TOKEN: stage.tokens.gateway,
      CORE_URL: `127.0.0.1:${stage.cores[0]?.corePort}`,
      PORT: String(port),
    };
    gateway = await startGateway(readSettings(GATEWAY_SETTINGS, environment), { log: openLog('test', 'silent') });
    await gateway.ready;
  }

  before(async () => {
    port = await freePort();
    await start();
    const { merchants } = stage.channel('operator');
    const { key } = await merchants.createApiKey({ merchantId: 'acme', managesWebhook: true });
    state = await mkdtemp(`${tmpdir()}/holdfast-listen-`);
    env = { HOLDFAST_BASE_URL: `http://127.0.0.1:${port}`, HOLDFAST_API_KEY: key, XDG_STATE_HOME: state };
  });
  after(async () => {
    await gateway?.close();
    await rm(state, { recursive: true });
  });
  beforeEach(() => {
    received.length = 0;
    status = 200;
  });

  /** Listens until it is told to end. */
  async function listening(more = '', to = receiver.url) {
    const lines: string[] = [];
    const abort = new AbortController();
    const print = (line: string) => void lines.push(line);
    const outside = { env, out: print, err: print, signal: abort.signal };
    const line = `listen --forward-to ${to}/webhooks/${more}`;
    const ended = main(line.split(' '), outside);
    const until = async (isSo: () => boolean) => {
      while (!isSo()) await Promise.race([delay(20), ended.then(() => assert.fail(lines.join('\n')))]);
    };
    await until(() => lines.length > 0);
    return {
      lines,
      until,
      async end(): Promise<number> {
        abort.abort();
        return ended;
      },
    };
  }

  it('forwards each notification once, in order, through a restart of the gateway, and shows the answers', async () => {
    const listener = await listening();
    const placed: string[] = [];
    const place = async () => placed.push((await acme.hold()).requestId);
    for (let count = 0; count < 5; count++) await place();
    await listener.until(() => received.length > 0);
    const stopped = gateway?.close();
    for (let count = 0; count < 5; count++) await place();
    await stopped;
    for (let count = 0; count < 5; count++) await place();
    await start();
    await place();
    const shownOf = ({ lines }: { lines: string[] }) => lines.filter((line) => line.startsWith('authorized'));
    await listener.until(() => shownOf(listener).length >= placed.length);
    assert.equal(await listener.end(), 0);
    assert.deepEqual(
      received,
      placed.map((requestId) => ({ path: '/webhooks/webhook/processor/payment/authorized', requestId })),
    );
    assert.deepEqual(
      shownOf(listener).map((line) => line.replace(/\d+ ms$/, 'N ms')),
      placed.map((requestId) => `authorized   ${requestId}  200  N ms`),
    );
    assert.match(listener.lines.at(-1) ?? '', /^ended; --after \S+ goes on from here$/);
    assert.deepEqual(await sql(stage, 'select id from delivery'), []);
  });

  it('goes on after an event, and shows a receiver that refuses or is away', async () => {
    const first = await listening(' --json');
    await acme.hold();
    await first.until(() => first.lines.length === 2);
    await first.end();
    const { after } = JSON.parse(first.lines.at(-1) ?? '');
    const missed = await acme.hold();
    status = 500;
    const second = await listening(` --after ${after}`);
    await second.until(() => second.lines.length === 2);
    await second.end();
    assert.match(second.lines[1] ?? '', new RegExp(`^authorized +${missed.requestId}  500  \\d+ ms$`));
    const third = await listening(` --after ${after}`, `http://127.0.0.1:${await freePort()}`);
    await third.until(() => third.lines.length === 2);
    await third.end();
    assert.match(third.lines[1] ?? '', /ECONNREFUSED/);
  });

  it('says what is wrong with the address and the key', async () => {
    const run = async (line: string, given = env) => {
      const said: string[] = [];
      const print = (text: string) => void said.push(text);
      return [await main(line.split(' '), { env: given, out: print, err: print }), said.join('\n')] as const;
    };
    assert.deepEqual((await run('listen'))[0], 2);
    for (const address of ['localhost:3000', 'http://ann:secret@localhost:3000', 'http://localhost:3000?a=1']) {
      assert.equal((await run(`listen --forward-to ${address}`))[0], 2, address);
    }
    const [code, said] = await run('listen --forward-to http://localhost:3000', {
      ...env,
      HOLDFAST_API_KEY: acme.apiKey,
    });
    assert.equal(code, 1);
    assert.match(said, /^FORBIDDEN: .*may not manage the webhook/);
  });
});
