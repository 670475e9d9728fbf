/**
 * Merchants' endpoints that try to keep the worker busy: each attempt must end in time, read little, and delay no other
 * delivery.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { openShop } from '../../../services/quickstart/shop.ts';
import { Answers, type Attack, type Target } from './attack.ts';

/** An attempt may take 10 s in total. */
const LONGEST_ATTEMPT_MS = 12_000;
/** What a connection may read, most of which waits in the kernel's buffers. */
const MOST_BYTES = 32 * 2 ** 20;
const NOTIFICATIONS = 5;
const OCT = { tokenId: 'tok_sandbox_ok', amount: 1000, currency: 'EUR', terminalId: 'till-1', userId: 'ann' };

/** The endpoint's behaviour on a request. */
type Hostility = (socket: Socket, port: number) => void;

/** Writes the same bytes for ever, as fast as they are read. */
function pump(socket: Socket, chunk: string): void {
  const bytes = Buffer.from(chunk);
  const write = () => {
    if (socket.destroyed) return;
    if (socket.write(bytes)) setImmediate(write);
    else socket.once('drain', write);
  };
  write();
}

const HOSTILITIES: Record<string, Hostility> = {
  'endless 103 heads': (socket) => pump(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(200)),
  'an endless chunk extension': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;');
    pump(socket, 'a'.repeat(65_536));
  },
  'an endless head': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    pump(socket, 'X-Endless: aaaaaaaaaaaaaaaa\r\n'.repeat(500));
  },
  'an endless body': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    pump(socket, 'a'.repeat(65_536));
  },
  'endless empty chunks of trailers': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n');
    pump(socket, 'X-Trailer: aaaaaaaaaaaaaaaa\r\n'.repeat(500));
  },
  'a byte of its head every half second': (socket) => {
    const head = 'HTTP/1.1 200 OK\r\nX-Slow: '.padEnd(1_000, 'a');
    let sent = 0;
    const drip = setInterval(() => socket.write(head.charAt(sent++)), 500);
    socket.once('close', () => clearInterval(drip));
  },
  'no answer': () => undefined,
  'redirects to itself': (socket, port) => {
    socket.end(
      `HTTP/1.1 307 Again\r\nLocation: http://127.0.0.1:${port}/again\r\nContent-Length: 0\r\nConnection: close\r\n` +
        '\r\n',
    );
  },
};

function hostileEndpoint(name: string, act: Hostility): Attack {
  return {
    name: `An endpoint that answers with ${name}`,
    expects: `each attempt over within ${LONGEST_ATTEMPT_MS / 1000} s, at most ${MOST_BYTES / 2 ** 20} MiB taken`,
    async run(target) {
      const endpoint = await openEndpoint(act);
      try {
        await notify(target, endpoint.url);
        await endpoint.asked;
        await delay(LONGEST_ATTEMPT_MS);
        const faults = endpoint.faults();
        return { answers: endpoint.answers(), faults };
      } finally {
        endpoint.close();
      }
    },
  };
}

/** Makes operations of a new merchant with this endpoint. */
async function notify(target: Target, webhookUrl: string): Promise<void> {
  const { apiKey } = await target.createMerchant(webhookUrl);
  const shop = openShop({ ...target.file, apiKey });
  for (let sent = 0; sent < NOTIFICATIONS; sent++) await shop.post('/oct', OCT);
}

async function openEndpoint(act: Hostility) {
  const attempts: { openedMs: number; closedMs: number | undefined; socket: Socket }[] = [];
  const asked = Promise.withResolvers<void>();
  let followed = 0;
  const server = createServer((socket) => {
    const attempt = { openedMs: performance.now(), closedMs: undefined as number | undefined, socket };
    attempts.push(attempt);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      attempt.closedMs = performance.now();
    });
    socket.once('data', (head: Buffer) => {
      if (head.toString('latin1').includes(' /again')) followed += 1;
      asked.resolve();
      act(socket, (server.address() as AddressInfo).port);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const lastedMs = ({ openedMs, closedMs }: (typeof attempts)[number]) => (closedMs ?? performance.now()) - openedMs;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: Promise.race([asked.promise, delay(10_000)]),
    answers() {
      const answers = new Answers();
      for (const { closedMs } of attempts) answers.add(closedMs === undefined ? 'open' : 'closed');
      return answers;
    },
    faults(): string[] {
      const late = attempts.filter((attempt) => lastedMs(attempt) > LONGEST_ATTEMPT_MS).length;
      const most = Math.max(0, ...attempts.map(({ socket }) => socket.bytesWritten));
      return [
        ...(attempts.length === 0 ? ['no attempt was made'] : []),
        ...(late > 0 ? [`${late} attempts lasted longer`] : []),
        ...(most > MOST_BYTES ? [`one attempt took ${Math.round(most / 2 ** 20)} MiB`] : []),
        ...(followed > 0 ? [`${followed} redirects were followed`] : []),
      ];
    },
    close(): void {
      server.close();
      for (const { socket } of attempts) socket.destroy();
    },
  };
}

export const HOSTILE_ENDPOINTS: readonly Attack[] = Object.entries(HOSTILITIES).map(([name, act]) =>
  hostileEndpoint(name, act),
);
