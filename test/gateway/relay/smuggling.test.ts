/** Requests that two readers could take for different ones: none reaches core as anything but what was signed. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { forEachTest } from '../../suite.ts';
import { BODY, SCHEMES } from './senders.ts';
import { openStage } from './stage.ts';

const { sender: GITHUB, sign } = SCHEMES['hmac-sha256-body'];
const PATH = `/webhook/relay/${GITHUB.credentials.senderId}`;
const [[NAME, VALUE]] = Object.entries(sign()) as [[string, string]];
const SIGNED = `${NAME}: ${VALUE}`;
const LENGTH = `content-length: ${BODY.length}`;
const CHUNKED = 'transfer-encoding: chunked';
const CHUNKS = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
const NEXT = `POST ${PATH} HTTP/1.1\r\nhost: x\r\n${SIGNED}\r\ncontent-length: 5\r\n\r\nother`;

const request = (lines: readonly string[], body: string, line = `POST ${PATH} HTTP/1.1`) =>
  [line, 'host: x', 'connection: close', ...lines, '', body].join('\r\n');

/** Each with the number of notifications that may be stored: genuine ones, as they were signed. */
const SHAPES: readonly [what: string, text: string, stored: 0 | 1][] = [
  ['a plain one', request([SIGNED, LENGTH], BODY), 1],
  ['chunks', request([SIGNED, CHUNKED], CHUNKS), 1],
  ['a length beside chunks', request([SIGNED, LENGTH, CHUNKED], CHUNKS), 0],
  ['chunks beside a length', request([SIGNED, CHUNKED, LENGTH], CHUNKS), 0],
  ['two lengths', request([SIGNED, LENGTH, 'content-length: 0'], BODY), 0],
  ['a list of lengths', request([SIGNED, `${LENGTH}, ${BODY.length}`], BODY), 0],
  ['a length with a sign', request([SIGNED, LENGTH.replace(': ', ': +')], BODY), 0],
  ['a length in hexadecimal', request([SIGNED, `content-length: 0x${BODY.length.toString(16)}`], BODY), 0],
  ['a name before a blank and a colon', request([SIGNED, LENGTH.replace(':', ' :')], BODY), 0],
  ['a folded length', request([SIGNED, LENGTH.replace(': ', ':\r\n ')], BODY), 0],
  ['another coding', request([SIGNED, 'transfer-encoding: identity, chunked'], CHUNKS), 0],
  ['a coding in two headers', request([SIGNED, CHUNKED, 'transfer-encoding: identity'], CHUNKS), 0],
  ['a coding that is none', request([SIGNED, 'transfer-encoding: xchunked'], CHUNKS), 0],
  ['a chunk of a wrong size', request([SIGNED, CHUNKED], CHUNKS.replace(/^\w+/, '5')), 0],
  ['a chunk size with a sign', request([SIGNED, CHUNKED], `+${CHUNKS}`), 0],
  ['line feeds alone', request([SIGNED, LENGTH], BODY).replaceAll('\r\n', '\n'), 0],
  ['a signature in a folded header', request([SIGNED.replace(': ', ':\r\n '), LENGTH], BODY), 0],
  ['a signature twice', request([SIGNED, SIGNED, LENGTH], BODY), 0],
  ['a signature with a NUL', request([`${SIGNED}\0`, LENGTH], BODY), 0],
  [
    'a signature among the trailers',
    request([CHUNKED, `trailer: ${NAME}`], CHUNKS.replace(/\r\n$/, `${SIGNED}\r\n\r\n`)),
    0,
  ],
  ['a request behind the body', request([SIGNED, LENGTH], BODY + NEXT).replace('connection: close\r\n', ''), 1],
  ['a request inside of the body', request([SIGNED, `content-length: ${NEXT.length}`], NEXT), 0],
  ['a compressed body', request([SIGNED, LENGTH, 'content-encoding: gzip'], BODY), 1],
  ['a method in the header', request([SIGNED, LENGTH, 'x-http-method-override: DELETE'], BODY), 1],
  ['another sender in the query', request([SIGNED, LENGTH], BODY, `POST ${PATH}?senderId=other HTTP/1.1`), 1],
  ['a whole URL', request([SIGNED, LENGTH], BODY, `POST http://other${PATH} HTTP/1.1`), 1],
  ['two hosts', request(['host: y', SIGNED, LENGTH], BODY), 0],
];

describe('the relay for other senders, and smuggled requests', () => {
  const stage = forEachTest(openStage);

  for (const [what, text, stored] of SHAPES) {
    it(`${stored === 1 ? 'takes once, as it was signed' : 'refuses'}: ${what}`, async () => {
      stage.senders.set(GITHUB.credentials.senderId, GITHUB);
      const answer = await converse(stage.port, text);
      if (stored === 0) assert.doesNotMatch(answer, /^HTTP\/1.1 2/m, answer);
      else assert.match(answer, /^HTTP\/1.1 200 /);
      assert.deepEqual(
        stage.core.relayed.map(({ body }) => Buffer.from(body).toString()),
        stored === 1 ? [BODY] : [],
      );
    });
  }
});

/** Sends it, and returns all that is answered. */
function converse(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.end(text));
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
  });
}
