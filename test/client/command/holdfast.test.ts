import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import currencies from 'currency-codes';
import { ROOT } from '../../../.ci/sources.ts';
import { minorUnits, written } from '../../../client/command/amount.ts';
import { type Stack, useStack } from '../../stack.ts';
import { cutBefore, json, serveScript } from '../scripted-server.ts';
import { printedBy, runLine } from './run-line.ts';

/** Asks for no contract. */
const HOLD = 'hold --amount 1 --currency EUR --terminal T1 --token t';

describe('the command line', () => {
  let stack: Stack;
  let env: Record<string, string>;
  before(async () => {
    stack = await useStack();
    env = { HOLDFAST_BASE_URL: stack.file.baseUrl, HOLDFAST_API_KEY: stack.file.apiKey };
  });

  const holdfast = (line: string, given = env, answers?: string[]) => runLine(line, given, answers);
  const printed = (line: string) => printedBy(line, env);

  it('places, captures, releases, pays and looks up, with human amounts', async () => {
    const hold = await printed('hold --amount 100.50 --token tok_sandbox_ok --reference order-7');
    assert.equal(hold.amount, 10_050);
    const capture = await printed(`capture ${hold.preauthorizationId} --amount 40 --currency EUR`);
    assert.deepEqual([capture.amountCaptured, capture.amountRemaining], [4_000, 6_050]);
    assert.equal((await printed(`refund ${capture.requestId} --amount 1.50`)).amountRefunded, 150);
    assert.equal((await printed(`refund ${capture.requestId}`)).amountRefunded, 3_850);
    const part = await printed(`release ${hold.requestId} --amount 10.50`);
    assert.deepEqual([part.release, part.amountRemaining], [{ amountReleased: 1_050 }, 5_000]);
    assert.equal((await printed(`release ${hold.requestId}`)).amountReleased, 6_050);
    assert.equal((await printed(`get ${hold.requestId}`)).captures.length, 1);
    const oct = await printed('oct --amount 1 --token tok_sandbox_ok');
    assert.equal((await printed(`get ${oct.requestId}`)).operation, 'OCT');
    assert.match((await holdfast('list --limit 2')).text, /^requestId +status +amount.*\n.* EUR/);
    assert.match((await holdfast('operations')).text, /RELEASE +OK +released/);
    assert.match((await holdfast(`open ${hold.requestId}`)).text, /\/console#\/search\?text=/);
  });

  it('increments, extends, renews and updates a hold, with human amounts', async () => {
    const at = new Date(Date.now() + 86_400_000).toISOString();
    const hold = await printed(`hold --amount 10 --token tok_sandbox_ok --description room --release-at ${at}`);
    assert.deepEqual([hold.description, hold.releaseAt], ['room', at]);
    const increment = await printed(`increment ${hold.preauthorizationId} --amount 2.50 --currency EUR`);
    assert.deepEqual([increment.amountAdded, increment.amount], [250, 1_250]);
    assert.match((await printed(`extend ${hold.preauthorizationId}`)).extensionRequestId, /^[0-9a-f-]{36}$/);
    const updated = await printed(`update ${hold.requestId} --reference order-8 --release-at= --capture-at ${at}`);
    assert.deepEqual([updated.merchantReference, updated.releaseAt, updated.captureAt], ['order-8', undefined, at]);
    assert.equal((await printed(`update ${hold.requestId} --capture-at=`)).captureAt, undefined);
    const renewed = await printed(`renew ${hold.requestId} --amount 7.25`);
    assert.deepEqual([renewed.amount, renewed.renews], [725, hold.requestId]);
  });

  describe('with a hold in a currency without minor units', () => {
    const amountOf = (hold: { amount: number; amountCaptured: number }) => [hold.amount, hold.amountCaptured];
    const place = () => printed('hold --amount 200000 --currency JPY --token tok_sandbox_ok');

    it("refuses another currency than the hold's, by its handle and by its requestId, and does nothing", async () => {
      const hold = await place();
      for (const command of ['capture', 'increment']) {
        const byHandle = await holdfast(`${command} ${hold.preauthorizationId} --amount 1000 --currency EUR`);
        assert.equal(byHandle.code, 1);
        assert.match(byHandle.text, /^INVALID_REQUEST: .* currency must be JPY/);
        const byRequestId = await holdfast(`${command} ${hold.requestId} --amount 1000 --currency EUR`);
        assert.equal(byRequestId.code, 2);
        assert.match(byRequestId.text, /--currency EUR is not its currency, which is JPY: nothing was done/);
      }
      const released = await holdfast(`release ${hold.requestId} --currency EUR`);
      assert.equal(released.code, 1);
      assert.match(released.text, /^INVALID_REQUEST: .* currency must be JPY/);
      assert.deepEqual(amountOf(await printed(`get ${hold.requestId}`)), [200_000, 0]);
    });

    it("reads amounts in the hold's currency", async () => {
      const hold = await place();
      assert.equal((await printed(`increment ${hold.requestId} --amount 50`)).amountAdded, 50);
      const capture = await printed(`capture ${hold.requestId} --amount 1000`);
      assert.equal(capture.amountCaptured, 1_000);
      const part = await printed(`release ${hold.requestId} --amount 30`);
      assert.deepEqual(part.release, { amountReleased: 30 });
      for (const command of ['refund', 'renew', 'release']) {
        const about = command === 'refund' ? capture : hold;
        assert.equal((await holdfast(`${command} ${about.requestId} --amount 10 --currency EUR`)).code, 2);
        assert.match((await holdfast(`${command} ${about.requestId} --currency EUR`)).text, /currency must be JPY/);
      }
      assert.equal((await printed(`refund ${capture.requestId} --amount 10`)).amountRefunded, 10);
    });
  });

  it('says that a hold whose customer has not paid yet cannot be captured', async () => {
    const page = await printed('hold --amount 10');
    const { code, text } = await holdfast(`capture ${page.requestId} --amount 1`);
    assert.equal(code, 2);
    assert.match(text, /is not placed/);
  });

  it("refunds and renews in the operation's own currency, and says it", async () => {
    for (const command of ['refund', 'renew']) {
      await using server = await serveScript([json(200, { currency: 'JPY' }), json(201, { requestId: 'r' })]);
      const given = { HOLDFAST_BASE_URL: server.baseUrl, HOLDFAST_API_KEY: 'k' };
      assert.equal((await holdfast(`${command} x --amount 40`, given)).code, 0);
      const { amount, currency } = JSON.parse(server.asked[1]?.body ?? '');
      assert.deepEqual([amount, currency], [40, 'JPY'], command);
    }
  });

  it('shows the contract', async () => {
    assert((await printed('contract')).currencies.includes('EUR'));
    assert.match((await holdfast('contract')).text, /^currencies +\[.*"EUR"/m);
  });

  it('repeats a write under a key that is given', async () => {
    const [first, second] = [
      await printed('hold --amount 1 --token tok_sandbox_ok --key cli-1'),
      await printed('hold --amount 1 --token tok_sandbox_ok --key cli-1'),
    ];
    assert.deepEqual([second.requestId, second.replayed], [first.requestId, true]);
  });

  for (const [word, end] of [
    ['captured', 'OK'],
    ['declined', 'CARD_DECLINED'],
    ['failed', 'PROCESSOR_ERROR'],
    ['paid', 'OK'],
    ['reversed', 'OK'],
    ['refund_returned', 'OK'],
    ['returned', 'OK'],
    ['released', 'RELEASED'],
    ['partially_released', 'IN_PROGRESS'],
  ] as const) {
    it(`triggers ${word}`, async () => {
      const answer = await printed(`trigger ${word}`);
      assert.equal(answer.code ?? answer.status, end);
    });
  }

  it('ends with 1 when it is refused', async () => {
    const { code, text } = await holdfast('hold --amount 1 --token tok_sandbox_declined');
    assert.equal(code, 1);
    assert.match(text, /^CARD_DECLINED: .* [0-9a-f-]{36}$/);
    const wrong = await holdfast('list --status PAID');
    assert.equal(wrong.code, 1);
    assert.match(wrong.text, /^INVALID_REQUEST: .* status must be one of IN_PROGRESS, /);
  });

  it('ends with 2 and says what is wrong with the line', async () => {
    for (const [line, what] of [
      ['nonsense', /there is no command nonsense/],
      ['constructor', /there is no command constructor/],
      ['__proto__ --help', /there is no command __proto__/],
      ['hold', /--amount is needed/],
      ['hold --amount 1.234', /more digits than EUR has/],
      ['hold --amount ten', /write it as 10/],
      ['hold --amount 1 --currency euro', /ISO 4217/],
      ['hold --amuont 1', /amuont/],
      ['increment --amount 1', /REQUEST_ID\|PREAUTHORIZATION_ID is needed/],
      ['increment pre_x --currency EUR', /--amount is needed/],
      ['increment pre_x --amount 1', /--currency is needed: the hold's/],
      ['capture pre_x --amount 1', /--currency is needed: the hold's/],
      ['update x', /one of --reference, --description, --capture-at, --release-at, --keep-until is needed/],
      ['get', /REQUEST_ID is needed/],
      ['recover --since yesterday', /30m, 2h, 3d/],
      ['recover --since 999999999d', /30m, 2h, 3d/],
      ['trigger miracle', /these can: authorized/],
      ['trigger toString', /these can: authorized/],
      ['completion fish', /completion bash/],
      ['refund 0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b 5', /5 is one argument too many: refund takes CAPTURE_REQUEST_ID/],
      ['hold tok_sandbox_ok --amount 1', /tok_sandbox_ok is one argument too many: hold takes options only/],
      ['list --limit all', /--limit must be a whole number/],
      ['deliveries --limit -1', /--limit/],
    ] as const) {
      const { code, text } = await holdfast(line);
      assert.equal(code, 2, line);
      assert.match(text, what);
    }
    for (const line of ['whoami', 'whoami --profile constructor'])
      assert.equal((await holdfast(line, { XDG_CONFIG_HOME: '/nowhere' })).code, 2);
  });

  it('ends with 1 when there is no such hold', async () => {
    const nobody = randomUUID();
    for (const line of [
      'increment pre_x --amount 1 --currency EUR',
      'extend pre_x',
      `renew ${nobody}`,
      `update ${nobody} --description room`,
    ]) {
      const { code, text } = await holdfast(line);
      assert.deepEqual([code, text.split(':')[0]], [1, 'PREAUTHORIZATION_NOT_FOUND'], line);
    }
  });

  it('ends with 3, and the key to repeat it with, when the outcome is not known', async () => {
    for (const reply of [cutBefore, json(202, { requestId: 'x', status: 'IN_PROGRESS' })]) {
      await using server = await serveScript([reply]);
      const given = { HOLDFAST_BASE_URL: server.baseUrl, HOLDFAST_API_KEY: 'k' };
      const { code, text } = await holdfast(`${HOLD} --timeout 0.3 --key mine`, given);
      assert.equal(code, 3);
      assert.match(text, /repeat the same command with --key mine$/);
    }
  });

  it('prints the key to repeat a write with when it is interrupted', async () => {
    const asked = Promise.withResolvers<void>();
    await using server = await serveScript([() => asked.resolve()]);
    const child = spawn(process.execPath, [`${ROOT}client/command/main.ts`, ...HOLD.split(' ')], {
      env: { ...process.env, HOLDFAST_BASE_URL: server.baseUrl, HOLDFAST_API_KEY: 'k' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const said = text(child.stderr);
    await asked.promise;
    child.kill('SIGINT');
    const [code] = await once(child, 'exit');
    assert.equal(code, 3);
    const key = server.asked[0]?.headers['idempotency-key'];
    assert.match(await said, new RegExp(`repeat the same command with --key ${key}`));
  });

  it('ends quietly when nobody reads its output any more', async () => {
    const event = `id: a\ndata: ${JSON.stringify({ requestId: 'a' })}\n\n`;
    await using server = await serveScript([
      async (response) => {
        child.stdout.destroy();
        await once(child.stdout, 'close');
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event);
      },
    ]);
    const child = spawn(process.execPath, [`${ROOT}client/command/main.ts`, 'operations', '--follow'], {
      env: { ...process.env, HOLDFAST_BASE_URL: server.baseUrl, HOLDFAST_API_KEY: 'k' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = text(child.stderr);
    assert.deepEqual(await once(child, 'exit'), [141, null]);
    assert.equal(await said, '');
  });

  it('prints JSON for every command that prints something', async () => {
    const { requestId } = await printed('hold --amount 1 --token tok_sandbox_ok');
    for (const line of [
      'whoami',
      'list',
      'operations',
      'deliveries --limit 1',
      `get ${requestId}`,
      `open ${requestId}`,
    ])
      assert.equal(typeof (await printed(line)), 'object', line);
    assert.equal(typeof (await printed('recover --since 1m')).count, 'number');
    const [{ deliveryId }] = await printed('deliveries --limit 1');
    const resent = await printed(`resend ${deliveryId}`);
    assert.deepEqual([resent.deliveryId, Array.isArray(resent.attempts)], [deliveryId, true], 'all of its fields');
    assert.match((await printed('completion bash')).script, /complete -F _holdfast holdfast$/);
  });

  it('keeps logins for their owner, by profile, and only those that work', async () => {
    const folder = await mkdtemp(`${tmpdir()}/holdfast-login-`);
    const given = { XDG_CONFIG_HOME: folder };
    const { baseUrl, apiKey } = stack.file;
    assert.equal((await holdfast('login --profile shop', given, [baseUrl, 'wrong'])).code, 1);
    const login = await holdfast('login --profile shop --json', given, [baseUrl, apiKey]);
    assert.deepEqual([login.code, JSON.parse(login.text)], [0, { profile: 'shop', baseUrl }]);
    assert.equal((await stat(`${folder}/holdfast/profiles.json`)).mode & 0o777, 0o600);
    const { text } = await holdfast('whoami --profile shop', given);
    assert.match(text, new RegExp(baseUrl));
    assert.doesNotMatch(text, new RegExp(apiKey));
    assert.equal((await holdfast('whoami', given)).code, 2);
    await rm(folder, { recursive: true });
  });

  it('takes an empty variable of the environment for none', async () => {
    const home = await mkdtemp(`${tmpdir()}/holdfast-login-`);
    const { baseUrl, apiKey } = stack.file;
    const login = spawn(process.execPath, [`${ROOT}client/command/main.ts`, 'login'], {
      cwd: home,
      env: { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: '', HOLDFAST_BASE_URL: '', HOLDFAST_API_KEY: '' },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    login.stdin.end(`${baseUrl}\n${apiKey}\n`);
    assert.deepEqual(await once(login, 'exit'), [0, null]);
    await stat(`${home}/.config/holdfast/profiles.json`);
    const given = { XDG_CONFIG_HOME: `${home}/.config`, HOLDFAST_BASE_URL: '', HOLDFAST_API_KEY: '' };
    assert.equal((await holdfast('whoami', given)).code, 0);
    await rm(home, { recursive: true });
  });

  it('takes a login from standard input, a line for each question', async () => {
    const folder = await mkdtemp(`${tmpdir()}/holdfast-login-`);
    const { baseUrl, apiKey } = stack.file;
    async function login(input: string, ends: boolean) {
      const child = spawn(process.execPath, [`${ROOT}client/command/main.ts`, 'login'], {
        env: { PATH: process.env.PATH, XDG_CONFIG_HOME: folder },
        stdio: ['pipe', 'ignore', 'pipe'],
      });
      const said = text(child.stderr);
      child.stdin.write(input);
      if (ends) child.stdin.end();
      const [code] = await once(child, 'exit');
      return [code, /input ended|argument|Error|Warning/.exec(await said)?.[0]];
    }
    assert.deepEqual(await login('', true), [2, 'input ended']);
    assert.deepEqual(await login(`${baseUrl}\n`, true), [2, 'input ended']);
    assert.deepEqual(await login(`${baseUrl}\n${apiKey}`, true), [0, undefined]);
    assert.deepEqual(await login(`${baseUrl}\n${apiKey}\n`, false), [0, undefined], 'a pipe that stays open');
    assert.equal((await holdfast('whoami', { XDG_CONFIG_HOME: folder })).code, 0);
    for (const broken of ['{', 'null', '[]', '{"default": {"baseUrl": 5}}']) {
      await writeFile(`${folder}/holdfast/profiles.json`, broken);
      const { code, text: said } = await holdfast('whoami', { XDG_CONFIG_HOME: folder });
      assert.deepEqual([code, said.includes(`${folder}/holdfast/profiles.json`)], [2, true], `${broken}: ${said}`);
    }
    await rm(`${folder}/holdfast/profiles.json`);
    await mkdir(`${folder}/holdfast/profiles.json`);
    const { code, text: said } = await holdfast('whoami', { XDG_CONFIG_HOME: folder });
    assert.deepEqual([code, said.includes(`${folder}/holdfast/profiles.json`)], [2, true], said);
    assert.equal((await holdfast('whoami', { XDG_CONFIG_HOME: folder, ...env })).code, 0, 'it is not needed');
    await rm(folder, { recursive: true });
  });

  it('explains itself and completes', async () => {
    const { text } = await holdfast('help');
    assert.match(text, /^ {2}contract {17}show what/m);
    assert.match(text, /^ {2}capture REQUEST_ID\|PREAUTHORIZATION_ID\n {27}charge a hold/m);
    assert.match((await holdfast('capture --help')).text, /--final +close the hold/);
    assert.match((await holdfast('completion bash')).text, /capture\) words="--amount/);
    assert.match((await holdfast('completion zsh')).text, /bashcompinit/);
    for (const command of ['increment', 'extend', 'renew', 'update', 'contract', 'completion'])
      assert.match((await holdfast('completion bash')).text, new RegExp(`words="[^"]*\\b${command}\\b`));
  });

  it('knows the digits of each currency', () => {
    for (const { code, digits } of currencies.data) assert.equal(minorUnits('1', code), 10 ** digits, code);
    assert.equal(minorUnits('1.50', 'XCG'), 150);
    assert.equal(written(150, 'QQQ'), '150 QQQ (minor units)');
    assert.deepEqual(
      [minorUnits('10.5', 'EUR'), minorUnits('10', 'JPY'), minorUnits('1.234', 'KWD'), minorUnits('0', 'EUR')],
      [1_050, 10, 1_234, 0],
    );
    assert.deepEqual(
      [written(5, 'EUR'), written(10, 'JPY'), written(1_234, 'KWD')],
      ['0.05 EUR', '10 JPY', '1.234 KWD'],
    );
  });
});
