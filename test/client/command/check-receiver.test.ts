import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:net';
import { check } from '../../../client/command/receiver/check.ts';
import { DELIVERIES } from '../../../client/command/receiver/deliveries.ts';
import { freePort } from '../../../services/quickstart/ports.ts';
import { SECRET, type Spoil, serveReceiver } from './good-receiver.ts';
import { runLine } from './run-line.ts';
import { SPOILT } from './spoilt-receivers.ts';

const env = { SIGNING_SECRET: SECRET };

/** Checks a receiver that is spoilt. Returns the exit code and the printed records. */
async function checked(spoil?: Spoil, actsTwice = false, more = '') {
  const receiver = await serveReceiver(spoil, actsTwice);
  try {
    const line = `check-receiver ${receiver.url} --json${more.replace('EFFECTS', receiver.effects)}`;
    const { code, text } = await runLine(line, env);
    const records = text.split('\n').map((each) => JSON.parse(each));
    return { code, records, last: records.at(-1) };
  } finally {
    await receiver.close();
  }
}

describe('holdfast check-receiver', () => {
  it('gives a receiver as documented the best grade, and announces what it sends', async () => {
    const { code, records, last } = await checked(undefined, false, ' --effects EFFECTS');
    assert.deepEqual([code, last.grade, last.failed], [0, 'A', []], JSON.stringify(last));
    assert.equal(records[0].merchantId, 'check-receiver');
    assert.equal(records.length, DELIVERIES.length + 2);
    const { code: unseen, last: without } = await checked();
    assert.deepEqual([unseen, without.grade, without.effects], [0, 'A', false]);
  });

  it('has a fault for each delivery', () => {
    assert.deepEqual(
      Object.keys(SPOILT),
      DELIVERIES.map(({ name }) => name),
    );
  });

  for (const [name, spoil] of Object.entries(SPOILT)) {
    it(`sees what is wrong by ${name}`, async () => {
      const receiver = await serveReceiver(spoil);
      const target = { url: receiver.url, secret: SECRET, merchantId: 'acme', signal: new AbortController().signal };
      const delivery = DELIVERIES.filter((each) => each.name === name);
      try {
        for await (const { failure } of check(target, delivery)) assert(failure, name);
      } finally {
        await receiver.close();
      }
    });
  }

  it('grades a naive receiver F, and names what to mend', async () => {
    // Parses first, compares one signature with ==, knows no time, and fails for what it does not expect.
    const naive: Spoil = ({ request, json, before }) => {
      const { merchantId, requestId, status, amount, currency } = json;
      if (requestId === undefined) return 500;
      const text = `${merchantId}${requestId}${status}${amount}${currency}`;
      const expected = createHmac('sha256', SECRET).update(text).digest('base64');
      if (request.headers['x-service-signature'] !== expected) return 401;
      if (!['payment.captured', 'payment.reversed', 'oct.paid'].includes(String(json.type))) return 500;
      return before > 0 ? 409 : 200;
    };
    const { code, last, records } = await checked(naive);
    assert.deepEqual([code, last.outcome, last.grade], [1, 'failed', 'F']);
    for (const name of ['repeated', 'unknown-type', 'stale', 'type-changed', 'written-again', 'broken-json']) {
      assert(last.failed.includes(name), `${name} in ${last.failed}`);
    }
    for (const record of records.filter(({ passed }) => passed === false)) {
      assert.match(record.mend, /\w/);
      assert.match(record.read, /^docs\/[a-z-]+\.md#[a-z-]+/);
    }
  });

  it('sees with --effects that a repetition is booked again', async () => {
    const { code, last } = await checked(undefined, true, ' --effects EFFECTS');
    assert.deepEqual([code, last.grade], [1, 'D']);
    assert(last.failed.includes('effects of repeated'), String(last.failed));
    assert(last.failed.includes('effects of test'), String(last.failed));
  });

  it('sends nothing more when an ordinary notification is refused, or redirected', async () => {
    let count = 0;
    const { code, last, records } = await checked(() => {
      count++;
      return 404;
    });
    assert.deepEqual([code, last.grade, last.failed, count], [1, 'E', ['ordinary'], 1]);
    assert.equal(records[1].what, '404 instead of 2xx');
    const redirect = await checked(({ response }) => {
      response.setHeader('location', '/elsewhere');
      return 307;
    });
    assert.match(redirect.records[1].mend, /follow no redirects/);
  });

  it('waits for a silent receiver for a bounded time, and for an answer without an end', async () => {
    const first = DELIVERIES.slice(0, 1);
    const failureOf = async (spoil: Spoil) => {
      const receiver = await serveReceiver(spoil);
      const target = { url: receiver.url, secret: SECRET, merchantId: 'acme', signal: new AbortController().signal };
      try {
        for await (const { failure } of check({ ...target, attemptMs: 200 }, first)) return failure;
      } finally {
        await receiver.close();
      }
      return undefined;
    };
    const silent = await failureOf(() => new Promise(() => undefined));
    assert.deepEqual(silent, { grade: 'E', what: 'no answer within 0.2 s instead of 2xx' });
    const endless = await failureOf(({ response }) => {
      response.writeHead(200).write('and so on');
      return new Promise(() => undefined);
    });
    assert.equal(endless, undefined);
  });

  it('ends without a grade when it is interrupted', async () => {
    const receiver = await serveReceiver();
    const { code, text } = await runLine(`check-receiver ${receiver.url}`, env, [], AbortSignal.abort());
    await receiver.close();
    assert.equal(code, 1);
    assert.match(text, /ended after 0 of \d+: no grade/);
  });

  it('says what is wrong with the address, the secret and the merchant', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    for (const [line, given, asked, expected, said] of [
      ['', env, [], 2, /URL is needed/],
      [' ftp://localhost', env, [], 2, /no address/],
      [' http://ann:secret@localhost', env, [], 2, /no address/],
      [` ${url}`, {}, [''], 2, /secret is needed/],
      [` ${url}`, { SIGNING_SECRET: 'whsec_short' }, [], 2, /malformed/],
      [` ${url} --merchant a/b`, env, [], 2, /--merchant/],
      [` ${url}`, env, [], 1, /nothing listens at http:\/\/127/],
    ] as const) {
      const { code, text } = await runLine(`check-receiver${line}`, given as typeof env, [...asked]);
      assert.equal(code, expected, text);
      assert.match(text, said);
      assert.doesNotMatch(text, /whsec_[A-Za-z0-9+/]|\n {4}at /);
    }
  });

  it('names what is no TLS, and a receiver that only closes connections', async () => {
    const receiver = await serveReceiver();
    const { code, text } = await runLine(`check-receiver ${receiver.url.replace('http:', 'https:')}`, env);
    await receiver.close();
    assert.equal(code, 1);
    assert.match(text, /does not speak TLS/);
    const mute = createServer((socket) => socket.destroy());
    const port = await freePort();
    mute.listen(port, '127.0.0.1');
    const closed = await runLine(`check-receiver http://127.0.0.1:${port}`, env);
    await new Promise((resolve) => mute.close(resolve));
    assert.match(closed.text, /does not answer: a closed connection/);
  });
});
