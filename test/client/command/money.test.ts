/** What the command line says of money, and of what it could not do. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { readable } from '../../../client/command/amount.ts';
import clientPackage from '../../../client/package.json' with { type: 'json' };
import { makeCertificates } from '../../certificates.ts';
import { cutBefore, json, problem, serveScript } from '../scripted-server.ts';
import { runLine } from './run-line.ts';

const REQUEST_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
const terms = (currencies: string[], terminals: string[]) => json(200, { currencies, terminals });
const envOf = (baseUrl: string) => ({ HOLDFAST_BASE_URL: baseUrl, HOLDFAST_API_KEY: 'k' });

describe('the command line, of money', () => {
  it("prints amounts as it takes them, in the hold's currency, and with --json in minor units", async () => {
    const answer = { requestId: REQUEST_ID, amount: 1_051, currency: 'EUR', amountRemaining: 51 };
    await using server = await serveScript([json(201, answer)]);
    const line = 'hold --amount 10.51 --currency EUR --terminal T1 --token t';
    const { text } = await runLine(line, envOf(server.baseUrl));
    assert.match(text, /^amount +10\.51 EUR$/m);
    assert.match(text, /^amountRemaining +0\.51 EUR$/m);
    assert.equal(JSON.parse((await runLine(`${line} --json`, envOf(server.baseUrl))).text).amount, 1_051);
  });

  it('writes the amounts of parts in the currency of the whole', () => {
    const hold = {
      currency: 'KWD',
      amount: 1_500,
      captures: [{ amount: 1, currency: 'JPY' }],
      release: { amountReleased: 7 },
    };
    assert.deepEqual(readable(hold), {
      currency: 'KWD',
      amount: '1.500 KWD',
      captures: [{ amount: '1 JPY', currency: 'JPY' }],
      release: { amountReleased: '0.007 KWD' },
    });
    assert.deepEqual(readable({ amount: 5 }), { amount: 5 });
  });

  it('takes terminal and currency from the contract when there is one of it, and else names them', async () => {
    const placed = json(201, { requestId: REQUEST_ID });
    await using server = await serveScript([terms(['JPY'], ['kiosk']), placed]);
    assert.equal((await runLine('hold --amount 500 --token t', envOf(server.baseUrl))).code, 0);
    const { amount, currency, terminalId } = JSON.parse(server.asked[1]?.body ?? '');
    assert.deepEqual([amount, currency, terminalId], [500, 'JPY', 'kiosk']);
    await using usual = await serveScript([terms(['EUR', 'JPY'], ['kiosk', 'till-1']), placed]);
    assert.equal((await runLine('oct --amount 5 --token t', envOf(usual.baseUrl))).code, 0);
    const oct = JSON.parse(usual.asked[1]?.body ?? '');
    assert.deepEqual([oct.amount, oct.currency, oct.terminalId], [500, 'EUR', 'till-1']);
    await using several = await serveScript([terms(['EUR'], ['north', 'south'])]);
    const { code, text } = await runLine('hold --amount 5 --token t', envOf(several.baseUrl));
    assert.deepEqual([code, text, several.asked.length], [2, '--terminal is needed: one of north, south', 1]);
  });

  it('prints refusals, unknown outcomes and wrong lines as JSON with --json, with the exit code', async () => {
    const hold = 'hold --amount 1 --currency EUR --terminal T1 --token t --timeout 0.3 --key mine --json';
    const printed = async (line: string, baseUrl: string) => {
      const { code, text } = await runLine(line, envOf(baseUrl));
      const end = JSON.parse(text);
      assert.equal(end.exitCode, code);
      return end;
    };
    await using declining = await serveScript([
      problem(402, 'CARD_DECLINED', { requestId: REQUEST_ID, processorCode: 'x' }),
    ]);
    const refused = await printed(hold, declining.baseUrl);
    assert.deepEqual(
      [
        refused.outcome,
        refused.code,
        refused.status,
        refused.requestId,
        refused.problem.processorCode,
        refused.exitCode,
      ],
      ['refused', 'CARD_DECLINED', 402, REQUEST_ID, 'x', 1],
    );
    await using silent = await serveScript([cutBefore]);
    const unknown = await printed(hold, silent.baseUrl);
    assert.deepEqual([unknown.outcome, unknown.idempotencyKey, unknown.exitCode], ['unknown', 'mine', 3]);
    assert.match(unknown.reason, /no answer/);
    for (const line of ['hold --json', 'nonsense --json', 'hold --amuont 1 --json'])
      assert.deepEqual((await printed(line, silent.baseUrl)).outcome, 'usage', line);
  });

  it('says which version it is', async () => {
    assert.deepEqual(await runLine('--version', {}), { code: 0, text: clientPackage.version });
  });

  it('trusts the certificates of --ca, and says why it does not trust others', async () => {
    const { server, ca, close } = await makeCertificates();
    const [cert, key] = await Promise.all([readFile(server.cert), readFile(server.key)]);
    const served = createServer({ cert, key }, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"items":[],"currencies":["EUR"]}');
    });
    served.listen(0, '127.0.0.1');
    await once(served, 'listening');
    const env = envOf(`https://127.0.0.1:${(served.address() as AddressInfo).port}`);
    assert.equal((await runLine(`contract --ca ${ca}`, env)).code, 0);
    for (const file of ['/nowhere', server.key]) {
      const { code, text } = await runLine(`contract --ca ${file}`, env);
      assert.deepEqual([code, text.startsWith(`--ca ${file}`)], [2, true], text);
    }
    served.closeAllConnections();
    served.close();
    await close();
  });

  it('prints no stack trace where it cannot store or read', async () => {
    const env = { ...envOf(''), HOLDFAST_BASE_URL: '' };
    // A file in place of a folder refuses root, too.
    const reading = await runLine('whoami', { ...env, XDG_CONFIG_HOME: '/dev/null' });
    assert.deepEqual([reading.code, /cannot be read: ENOTDIR/.test(reading.text)], [2, true], reading.text);
    await using server = await serveScript([json(200, { items: [] })]);
    // Reads as absent, and refuses root, too, as a read-only folder refuses others.
    const home = await mkdtemp(`${tmpdir()}/holdfast-read-only-`);
    await mkdir(`${home}/holdfast`);
    await symlink('/nowhere/profiles.json', `${home}/holdfast/profiles.json`);
    const storing = await runLine('login', { XDG_CONFIG_HOME: home }, [server.baseUrl, 'k']);
    assert.deepEqual([storing.code, /cannot be written/.test(storing.text)], [2, true], storing.text);
    await rm(home, { recursive: true });
  });
});
