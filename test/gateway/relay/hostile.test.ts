import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { SIGNED_FIELDS, type SignedFields } from '../../../client/webhooks/signature.ts';
import { Problem } from '../../../gateway/http/problem.ts';
import { parseNotification } from '../../../gateway/relay/notification.ts';
import { verify } from '../../../gateway/relay/verify.ts';
import { type Answer, notification, openStage, SECRETS, type Stage } from './stage.ts';

const RIGHT = notification();
const FIELDS: readonly string[] = SIGNED_FIELDS;
const SIGNED = textOf(parseNotification(Buffer.from(RIGHT.body)));

describe('verify()', () => {
  it('accepts none of 10 000 mutated signatures and bodies, and throws no error', () => {
    let verified = 0;
    let wellFormed = 0;
    fc.assert(
      fc.property(mutation(), ({ body, headers }) => {
        const fields = parsed(body);
        if (fields === undefined) return;
        if (headers.length === 1 && headers[0] === RIGHT.signature && textOf(fields) === SIGNED) return;
        wellFormed += 1;
        const header = headers.length === 0 ? undefined : headers.join(', ');
        const claimed = { fields, headers: { 'x-service-signature': header }, body: Buffer.from(body) };
        const { reason } = verify(SECRETS[fields.merchantId], undefined, claimed, Date.now() / 1_000);
        if (reason === undefined) verified += 1;
      }),
      { numRuns: 10_000 },
    );
    assert.equal(verified, 0);
    assert.ok(wellFormed > 2_000, 'many reach the signature check');
  });
});

describe('the relay under attack', () => {
  let stage: Stage;

  afterEach(() => stage.close());

  it('returns 400 or 401 for mutated requests unless the signed text is unchanged', async () => {
    stage = await openStage();
    const mutations = fc.sample(mutation(), { numRuns: 400, seed: 42 });
    const answers: Answer[] = [];
    for (let i = 0; i < mutations.length; i += 25) {
      const batch = mutations.slice(i, i + 25).map(({ body, headers }, j) => {
        const from = `10.1.${Math.floor((i + j) / 250)}.${(i + j) % 250}`;
        return stage.send({ body, signature: headers.filter((header) => /^[\x20-\x7e]*$/.test(header)), from });
      });
      answers.push(...(await Promise.all(batch)));
    }
    const told = answers.map(({ status, body }) => {
      const { code, errors = [] } = JSON.parse(body);
      const names = errors.map(({ field }: { field: string }) => (FIELDS.includes(field) ? 'a field' : field));
      return [status, code, ...new Set(names)].join(' ');
    });
    const harmless = mutations.filter(({ body, headers }) => {
      const fields = parsed(body);
      return headers.length === 1 && headers[0] === RIGHT.signature && fields && textOf(fields) === SIGNED;
    });
    assert.equal(answers.filter(({ status }) => status === 200).length, harmless.length);
    const known = /^(200 |401 UNAUTHENTICATED|400 INVALID_REQUEST( body| a field| \(unprintable\))+)$/;
    assert.deepEqual(
      told.filter((each) => !known.test(each)),
      [],
    );
  });

  it('accepts every genuine notification beside 40 connections that have sent all but the last byte of a body', async () => {
    stage = await openStage();
    const slow: Socket[] = [];
    for (let index = 0; index < 40; index += 1) {
      const socket = connect(stage.port, '127.0.0.1').on('error', () => undefined);
      const head =
        'POST /webhook/processor/payment/done HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
        `X-Forwarded-For: 10.9.0.${index}\r\nContent-Length: 65536\r\n\r\n`;
      await new Promise((resolve) => socket.write(head + ' '.repeat(65_535), resolve));
      slow.push(socket);
    }
    const sent = Array.from({ length: 118 }, (_, index) => {
      const { body, signature } = notification({ requestId: `genuine-${index}` });
      return stage.send({ body, signature, from: `10.8.0.${index}` });
    });
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    assert.deepEqual(new Set(statuses), new Set([200]));
    for (const socket of slow) socket.destroy();
  });

  it('answers 401 to a signature header of every length from 0 to 1 000', async () => {
    stage = await openStage();
    const lengths = Array.from({ length: 1_001 }, (_, length) => length);
    for (let i = 0; i < lengths.length; i += 50) {
      const batch = lengths.slice(i, i + 50).map(async (length) => {
        const signature = RIGHT.signature.repeat(23).slice(0, length);
        const from = `10.2.${Math.floor(length / 250)}.${length % 250}`;
        return (
          await stage.send({ body: RIGHT.body, signature: length === 44 ? `${signature.slice(1)}A` : signature, from })
        ).status;
      });
      assert.deepEqual(new Set(await Promise.all(batch)), new Set([401]));
    }
  });

  it('refuses line breaks in headers and paths, and keeps serving', async () => {
    stage = await openStage();
    const head = (path: string, signature: string) =>
      `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `x-service-signature: ${signature}\r\ncontent-length: ${RIGHT.body.length}\r\n\r\n${RIGHT.body}`;
    const path = '/webhook/processor/payment/captured';
    for (const text of [
      head(path, `${RIGHT.signature}\n x`),
      head(path, `${RIGHT.signature}\rx`),
      head(path, `\0${RIGHT.signature}`),
      head(path, `${RIGHT.signature}\r\nx-service-signature: ${RIGHT.signature}`),
      head(`${path}%0d%0ax-relay: y`, RIGHT.signature),
    ]) {
      const answer = await converse(stage.port, text);
      assert.match(answer, /^HTTP\/1.1 (400|401|404) /, text);
    }
    assert.match(await converse(stage.port, head(path, RIGHT.signature)), /^HTTP\/1.1 200 /);
    assert.equal(stage.core.accepted.length, 1);
  });

  it('closes 200 connections that trickle their bodies, while others are served', async () => {
    stage = await openStage({ bodyTimeoutMs: 1_000 });
    const answers = Array.from({ length: 200 }, () => trickle(stage.port, 'application/json'));
    assert.equal((await stage.send(RIGHT)).status, 200);
    for (const answer of await Promise.all(answers)) assert.match(answer, /^HTTP\/1.1 408 /);
  });

  it('closes refused connections that keep trickling', async () => {
    stage = await openStage({ bodyTimeoutMs: 300 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => trickle(stage.port, 'text/plain')));
    for (const answer of answers) assert.match(answer, /^HTTP\/1.1 415 /);
  });

  it('survives clients that disconnect halfway', async () => {
    stage = await openStage();
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        const socket = connect(stage.port, '127.0.0.1');
        socket.write(
          'POST /webhook/processor/payment/x HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n' +
            'content-length: 99\r\n\r\n{',
        );
        await new Promise((resolve) => socket.once('connect', resolve));
        socket.resetAndDestroy();
      }),
    );
    assert.equal((await stage.send(RIGHT)).status, 200);
  });
});

/** Makes one or two random changes to a valid request; some leave the signed text unchanged, and the result says so. */
function mutation(): fc.Arbitrary<{ body: Buffer; headers: string[] }> {
  const position = fc.nat();
  const edit = fc.record({ position, byte: fc.oneof(fc.integer({ min: 32, max: 126 }), fc.nat(255)), how: fc.nat(4) });
  const header = fc.oneof(
    fc.constant<string[]>([RIGHT.signature]),
    edit.map((change) => [edited(Buffer.from(RIGHT.signature), change).toString('latin1')]),
    fc.base64String({ minLength: 44, maxLength: 44 }).map((text) => [text]),
    fc.array(fc.constant(RIGHT.signature), { maxLength: 3 }),
  );
  const bodies = fc
    .array(edit, { minLength: 0, maxLength: 2 })
    .map((edits) => edits.reduce(edited, Buffer.from(RIGHT.body)));
  return fc
    .record({ body: bodies, headers: header })
    .filter(
      ({ body, headers }) => body.toString() !== RIGHT.body || headers.length !== 1 || headers[0] !== RIGHT.signature,
    );
}

function edited(bytes: Buffer, { position, byte, how }: { position: number; byte: number; how: number }): Buffer {
  const at = position % (bytes.length + 1);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  const inserted = Buffer.from([byte]);
  if (how === 0) return Buffer.concat([before, inserted, after]);
  if (how === 1) return Buffer.concat([before, after.subarray(1)]);
  if (how === 2) return Buffer.concat([before, inserted, after.subarray(1)]);
  if (how === 3) return Buffer.concat([before, after.subarray(0, 8), after]);
  return Buffer.concat([after, before]);
}

function parsed(body: Buffer): SignedFields | undefined {
  try {
    return parseNotification(body);
  } catch (error) {
    assert.ok(error instanceof Problem && error.code === 'INVALID_REQUEST', String(error));
    return undefined;
  }
}

function textOf(fields: SignedFields): string {
  return SIGNED_FIELDS.map((name) => fields[name]).join(' ');
}

async function converse(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  return untilClosed(socket);
}

/** Sends a long body byte by byte until the connection is closed. */
async function trickle(port: number, type: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(
    `POST /webhook/processor/payment/captured HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\ncontent-length: ` +
      '1000\r\n\r\n',
  );
  const timer = setInterval(() => socket.write(' '), 50);
  try {
    return await untilClosed(socket);
  } finally {
    clearInterval(timer);
  }
}

function untilClosed(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    // A server that closes while the client is still sending resets the connection after its answer.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
  });
}
