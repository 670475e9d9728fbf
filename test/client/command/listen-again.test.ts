/** What `listen` and watches say while they are not open, and how they go on. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { ROOT } from '../../../.ci/sources.ts';
import { serveLocally } from '../../local-server.ts';
import { html, type Reply, serveScript } from '../scripted-server.ts';
import { runLine } from './run-line.ts';

const event = (id: string) => {
  const notification = {
    path: '/webhook/processor/payment/captured',
    headers: { 'webhook-id': id },
    body: `{"requestId":"${id}"}`,
  };
  return `id: ${id}\ndata: ${JSON.stringify(notification)}\n\n`;
};
/** An open stream with these events. */
const stream =
  (...ids: string[]): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`id: t0\n\n${ids.map(event).join('')}`);
  };

describe('holdfast listen, again', () => {
  let state: string;
  before(async () => {
    state = await mkdtemp(`${tmpdir()}/holdfast-listen-`);
  });
  after(() => rm(state, { recursive: true }));
  const envOf = (baseUrl: string) => ({ HOLDFAST_BASE_URL: baseUrl, HOLDFAST_API_KEY: 'k', XDG_STATE_HOME: state });

  it('keeps the last ten, shows them with their answers, and sends them again', async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `n${index}`);
    let seen = 0;
    const abort = new AbortController();
    await using closing = new AsyncDisposableStack();
    const receiver = await serveLocally((_request, response) => {
      seen += 1;
      response.writeHead(202).end(`stored ${seen}`);
      // The thirteenth is the one that arrives while it ends.
      if (seen === 13) abort.abort();
    });
    closing.defer(receiver.close);
    await using server = await serveScript([stream(...ids, 'last')]);
    const listened = await runLine(`listen --forward-to ${receiver.url}`, envOf(server.baseUrl), [], abort.signal);
    assert.match(listened.text, /captured +n0 +202 +\d+ ms\n/);
    assert.match(listened.text, /\nended; --after n11 goes on from here$/);
    const kept = JSON.parse((await runLine('listen --inspect --json', envOf(server.baseUrl))).text);
    assert.deepEqual(
      kept.map(({ requestId }: { requestId: string }) => requestId),
      ids.slice(2),
    );
    const inspected = await runLine('listen --inspect', envOf(server.baseUrl));
    assert.match(
      inspected.text,
      /captured {2}n11 {2}202 .*\n {2}POST \/webhook\/processor\/payment\/captured\n {2}webhook-id: n11\n/,
    );
    assert.match(inspected.text, /answered: stored 12$/m);
    const again = new AbortController();
    await using replaying = await serveScript([() => again.abort()]);
    await runLine(`listen --forward-to ${receiver.url} --replay`, envOf(replaying.baseUrl), [], again.signal);
    assert.equal(replaying.asked[0]?.headers['last-event-id'], 'n1');
  });

  it('has nothing to send again before the first', async () => {
    const { code, text } = await runLine(
      'listen --forward-to http://localhost:1 --replay --profile new',
      envOf('http://x'),
    );
    assert.deepEqual([code, text], [2, '--replay: none was sent yet']);
  });

  for (const [what, command] of [
    ['listen', 'listen --forward-to http://localhost:1'],
    ['a watch', 'operations --follow'],
    ['a watch of a sender', 'relayed --sender 0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b'],
  ] as const) {
    it(`${what} says each time why it is not open`, async () => {
      const abort = new AbortController();
      await using server = await serveScript([html(502), html(502), () => abort.abort()]);
      const { text } = await runLine(command, envOf(server.baseUrl), [], abort.signal);
      const lines = text.split('\n').filter((line) => /^not open: .* answered 502 .*; again in \d/.test(line));
      assert.equal(lines.length, 2, text);
    });
  }

  it('says how to go on when it is ended by SIGTERM', async () => {
    await using server = await serveScript([
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('id: t0\n\nid: n1\ndata: {"requestId":"n1"}\n\n');
      },
    ]);
    const child = spawn(process.execPath, [`${ROOT}client/command/main.ts`, 'operations', '--follow', '--json'], {
      env: { ...process.env, ...envOf(server.baseUrl) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const said = text(child.stdout.once('data', () => child.kill('SIGTERM')));
    const [code] = await once(child, 'exit');
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse((await said).trim().split('\n').at(-1) ?? ''), { after: 'n1' });
  });
});
