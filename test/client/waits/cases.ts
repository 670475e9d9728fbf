/** How a client waits (docs/clients.md): what a server does, and what both clients make of it. */

import { freePort } from '../../../services/quickstart/ports.ts';
import { cutBefore, json, problem, type Reply } from '../scripted-server.ts';

/** A call and what it comes to. */
export interface Wait {
  readonly what: string;
  /** What the server answers, the last one for ever; or an address where there is none of ours. */
  readonly replies: readonly Reply[] | (() => Promise<string>);
  readonly timeoutMs: number;
  /** Reads instead of placing a hold. */
  readonly isRead?: true;
  /** `done`, `unknown`, or the code of what is thrown. */
  readonly comesTo: readonly string[];
  /** How often the server was asked; a pattern `2+` is a minimum. */
  readonly tries: number | `${number}+`;
  /** What the reason or the message says. */
  readonly says?: RegExp;
}

const REQUEST_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
const PLACED = json(201, { requestId: REQUEST_ID, status: 'IN_PROGRESS', preauthorizationId: 'pre_x' });
const busy = (seconds: number) => problem(503, 'UNAVAILABLE', {}, { 'retry-after': String(seconds) });

/** Sends a byte now and then, without end, until the client leaves. */
const trickles =
  (start: string): Reply =>
  ({ socket }) => {
    if (socket === null) return;
    socket.write(start);
    const timer = setInterval(() => socket.write('x'), 100);
    socket.on('error', () => undefined).once('close', () => clearInterval(timer));
  };

/** The largest answer that was taken from the endless one, bytes. */
export const endless = { mostBytes: 0 };
const CHUNK = Buffer.alloc(2 ** 16, ' ');
const endlessly: Reply = async (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  let bytes = 0;
  const more = () => {
    while (!response.destroyed) {
      bytes += CHUNK.length;
      endless.mostBytes = Math.max(endless.mostBytes, bytes);
      if (!response.write(CHUNK)) return;
    }
  };
  response.on('drain', more);
  more();
};

export const waits = (tls: { readonly plainPort: number; readonly securePort: number }): readonly Wait[] => [
  { what: 'an answer', replies: [PLACED], timeoutMs: 60_000, comesTo: ['done'], tries: 1 },
  {
    what: 'a Retry-After of more than half of the time',
    replies: [busy(3), PLACED],
    timeoutMs: 5_500,
    comesTo: ['done'],
    tries: 2,
  },
  {
    what: 'a Retry-After of all the time: it does not wait for nothing',
    replies: [busy(999_999)],
    timeoutMs: 60_000,
    comesTo: ['UNAVAILABLE'],
    tries: 1,
  },
  { what: 'busy for ever', replies: [busy(0)], timeoutMs: 2_500, comesTo: ['UNAVAILABLE'], tries: '2+' },
  {
    what: 'stored, and without an end',
    replies: [json(202, { requestId: REQUEST_ID, status: 'IN_PROGRESS' })],
    timeoutMs: 2_500,
    comesTo: [`unknown ${REQUEST_ID}`],
    tries: '2+',
    says: /not known yet/,
  },
  { what: 'a connection that breaks', replies: [cutBefore, PLACED], timeoutMs: 60_000, comesTo: ['done'], tries: 2 },
  {
    what: 'a refusal after a try that may still be stored',
    replies: [cutBefore, problem(409, 'HOLD_FROZEN')],
    timeoutMs: 2_500,
    comesTo: ['unknown'],
    tries: '2+',
    says: /no answer/,
  },
  {
    what: 'a refusal of a read after a connection that broke',
    replies: [cutBefore, problem(404, 'OPERATION_NOT_FOUND')],
    timeoutMs: 60_000,
    isRead: true,
    comesTo: ['OPERATION_NOT_FOUND'],
    tries: 2,
  },
  {
    what: 'a head that trickles',
    replies: [trickles('HTTP/1.1 200 O')],
    timeoutMs: 1_000,
    comesTo: ['unknown'],
    tries: 1,
  },
  {
    what: 'a body that trickles',
    replies: [trickles('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"')],
    timeoutMs: 1_000,
    comesTo: ['unknown'],
    tries: 1,
  },
  {
    what: 'an answer without an end',
    replies: [endlessly, PLACED],
    timeoutMs: 60_000,
    comesTo: ['done'],
    tries: 2,
  },
  {
    what: 'a port where nothing listens: nothing was sent',
    replies: async () => `http://127.0.0.1:${await freePort()}`,
    timeoutMs: 600,
    comesTo: ['NO_ANSWER'],
    tries: 0,
    says: /refused/i,
  },
  {
    what: 'a name that nobody has: nothing was sent',
    replies: async () => 'http://holdfast.invalid',
    timeoutMs: 600,
    comesTo: ['NO_ANSWER'],
    tries: 0,
    says: /name|ENOTFOUND|EAI_AGAIN/i,
  },
  {
    what: 'a certificate that is not trusted: nothing was sent',
    replies: async () => `https://127.0.0.1:${tls.securePort}`,
    timeoutMs: 600,
    comesTo: ['NO_ANSWER'],
    tries: 0,
    says: /certificate/i,
  },
  {
    what: 'a port that does not speak TLS',
    replies: async () => `https://127.0.0.1:${tls.plainPort}`,
    timeoutMs: 600,
    // Node does not say whether it failed before or after the call was sent.
    comesTo: ['NO_ANSWER', 'unknown'],
    tries: 0,
    says: /TLS|WRONG_VERSION|corrupt/i,
  },
];
