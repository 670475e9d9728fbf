/** Raw heads at the gateway: each must be refused or answered as one request, and never with 5xx. */
import { Answers, type Attack, exchange, type Target } from './attack.ts';

/** A name, the bytes, and the permitted statuses. None = closed without an answer. */
type Case = readonly [name: string, bytes: string, expected: readonly number[]];

const get = (line: string, ...headers: string[]) => `${[line, 'Host: a', ...headers].join('\r\n')}\r\n\r\n`;

const LINES: readonly Case[] = [
  ['GET http://[', get('GET http://[ HTTP/1.1'), [400]],
  ['GET http://', get('GET http:// HTTP/1.1'), [400]],
  ['GET http://[::1', get('GET http://[::1/healthz HTTP/1.1'), [400]],
  ['GET http://a:b@c/', get('GET http://a:b@c/ HTTP/1.1'), [400, 404]],
  ['GET //a/healthz', get('GET //a/healthz HTTP/1.1'), [400, 404]],
  ['GET /\\a', get('GET /\\a HTTP/1.1'), [400, 404]],
  ['GET /%', get('GET /% HTTP/1.1'), [400, 404]],
  ['GET /preauthorization/%FF', get('GET /preauthorization/%FF HTTP/1.1'), [400, 401, 404]],
  ['GET /healthz%00', get('GET /healthz%00 HTTP/1.1'), [400, 404]],
  ['GET /docs/..%2foperator', get('GET /docs/..%2foperator/overview HTTP/1.1'), [400, 401, 404]],
  ['GET healthz', get('GET healthz HTTP/1.1'), [400, 404]],
  ['a target of 20 KB', get(`GET /${'a'.repeat(20_000)} HTTP/1.1`), [414, 431]],
  ['a head of 20 KB', get('GET /healthz HTTP/1.1', `X-A: ${'a'.repeat(20_000)}`), [431]],
  ['lower-case method', get('get /healthz HTTP/1.1'), [400]],
  ['unknown method', get('BREW /healthz HTTP/1.1'), [400]],
  ['TRACE', get('TRACE /healthz HTTP/1.1'), [404, 405, 501]],
  ['CONNECT', get('CONNECT a:443 HTTP/1.1'), [400, 404, 405]],
  ['OPTIONS *', get('OPTIONS * HTTP/1.1'), [400, 404, 405]],
  ['HTTP/9.9', get('GET /healthz HTTP/9.9'), [400, 505]],
  ['HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400, 505]],
  ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n', [400]],
  ['space before the colon', get('GET /healthz HTTP/1.1', 'X-A : 1'), [400]],
  ['NUL in a header', get('GET /healthz HTTP/1.1', 'X-A: \x00'), [400]],
  ['bare CR in a header', get('GET /healthz HTTP/1.1', 'X-A: a\rX-B: b'), [400]],
  ['unknown Expect', get('POST /oct HTTP/1.1', 'Expect: a', 'Content-Length: 2'), [417]],
];

const SMUGGLED = get('GET /healthz HTTP/1.1');
const post = (headers: readonly string[], body: string) =>
  [RELAY_LINE, 'Host: a', 'Content-Type: application/json', ...headers, '', body].join('\r\n');
const RELAY_LINE = 'POST /webhook/processor/payment/captured HTTP/1.1';
const REFUSED = [400, 411, 413, 501];

/**
 * Each is followed by another request that must not be answered: two servers in a row would disagree where the first
 * one ends.
 */
const SHAPES: readonly Case[] = [
  ['length and chunked', post(['Content-Length: 4', 'Transfer-Encoding: chunked'], `0\r\n\r\n${SMUGGLED}`), REFUSED],
  ['two lengths', post(['Content-Length: 2', 'Content-Length: 40'], `{}${SMUGGLED}`), REFUSED],
  ['two equal lengths in one', post(['Content-Length: 2, 2'], `{}${SMUGGLED}`), REFUSED],
  ['length +2', post(['Content-Length: +2'], `{}${SMUGGLED}`), REFUSED],
  ['length -2', post(['Content-Length: -2'], `{}${SMUGGLED}`), REFUSED],
  ['length 0x2', post(['Content-Length: 0x2'], `{}${SMUGGLED}`), REFUSED],
  ['length 2^64', post(['Content-Length: 18446744073709551616'], `{}${SMUGGLED}`), REFUSED],
  ['xchunked', post(['Transfer-Encoding: xchunked'], `0\r\n\r\n${SMUGGLED}`), REFUSED],
  ['chunked, identity', post(['Transfer-Encoding: chunked, identity'], `0\r\n\r\n${SMUGGLED}`), REFUSED],
  ['chunked with a space before the colon', post(['Transfer-Encoding : chunked'], `0\r\n\r\n${SMUGGLED}`), REFUSED],
  ['folded chunked', post(['Transfer-Encoding:', ' chunked'], `0\r\n\r\n${SMUGGLED}`), REFUSED],
  [
    'chunk size that overflows',
    post(['Transfer-Encoding: chunked'], `fffffffffffffffff\r\n{}\r\n${SMUGGLED}`),
    REFUSED,
  ],
  ['chunk size with 0x', post(['Transfer-Encoding: chunked'], `0x2\r\n{}\r\n0\r\n\r\n${SMUGGLED}`), REFUSED],
  ['chunk ended by LF alone', post(['Transfer-Encoding: chunked'], `2\n{}\n0\n\n${SMUGGLED}`), REFUSED],
  ['a body longer than its chunk', post(['Transfer-Encoding: chunked'], `2\r\n{}}}\r\n0\r\n\r\n${SMUGGLED}`), REFUSED],
];

function rawHeads(name: string, cases: readonly Case[], isAlone: boolean): Attack {
  return {
    name: `${name} (${cases.length})`,
    expects: isAlone ? 'one 4xx or 501 each, then closed' : '4xx or 501 each, never another 5xx',
    async run({ file }: Target) {
      const answers = new Answers();
      const faults: string[] = [];
      for (const [what, bytes, expected] of cases) {
        const { statuses, closed } = await exchange(file.baseUrl, bytes);
        for (const status of statuses) answers.add(status);
        if (statuses.length === 0) answers.add(closed ? 'closed' : 'open');
        if (statuses.length > 1) faults.push(`${what}: ${statuses.length} answers`);
        const [status] = statuses;
        if (status === undefined ? !closed : !expected.includes(status))
          faults.push(`${what}: ${status ?? 'no answer'}`);
        if (isAlone && !closed) faults.push(`${what}: the connection stayed open`);
      }
      return { answers, faults };
    },
  };
}

/** A body belongs to its request, whatever the method. */
const bodyOfGet: Attack = {
  name: 'A request in the body of a GET',
  expects: 'one 200',
  async run({ file }) {
    const bytes = get('GET /healthz HTTP/1.1', `Content-Length: ${SMUGGLED.length}`) + SMUGGLED;
    const { statuses } = await exchange(file.baseUrl, bytes);
    const answers = new Answers();
    for (const status of statuses) answers.add(status);
    return { answers, faults: statuses.join() === '200' ? [] : [`answers: ${statuses.join()}`] };
  },
};

export const REQUEST_LINES: readonly Attack[] = [
  rawHeads('Request lines and heads that are none', LINES, false),
  rawHeads('Shapes that smuggle a second request', SHAPES, true),
  bodyOfGet,
];
