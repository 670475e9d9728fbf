/** Connections that stall: the server must close each in time. */
import { connect } from 'node:http2';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Answers, type Attack, newAddress, openSocket, type Target } from './attack.ts';

/** A server waits at most 10 s for a request; a busy machine may take longer to notice. */
const CLOSED_WITHIN_MS = 15_000;
const CONNECTIONS = 200;
const DRIP_MS = 500;

/** The connection's behaviour once it is open. Returns how to stop. */
type Stall = (socket: Socket) => () => void;

const saysNothing: Stall = () => () => undefined;
const stopsIn =
  (head: string): Stall =>
  (socket) => {
    socket.write(head);
    return () => undefined;
  };
const dripsAfter =
  (head: string): Stall =>
  (socket) => {
    socket.write(head);
    const drip = setInterval(() => socket.write('1'), DRIP_MS);
    return () => clearInterval(drip);
  };

const POST = 'Host: a\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n';
const RELAY = `POST /webhook/processor/payment/captured HTTP/1.1\r\n${POST}{`;
const RPC = `POST /holdfast.v1.OperationService/GetOperation HTTP/1.1\r\n${POST}{`;

function stalled(name: string, urlOf: (target: Target) => string, stall: Stall): Attack {
  return {
    name: `${CONNECTIONS} connections ${name}`,
    expects: `closed within ${CLOSED_WITHIN_MS / 1000} s`,
    async run(target) {
      const url = urlOf(target);
      const address = newAddress();
      const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => openSocket(url, address)));
      const answers = new Answers();
      const closed = sockets.map(async (socket) => {
        let first = '';
        socket.on('data', (chunk: Buffer) => {
          first ||= chunk.toString('latin1', 0, 12);
        });
        const stop = stall(socket);
        if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
        stop();
        answers.add(/^HTTP\/1\.1 (\d{3})$/.exec(first)?.[1] ?? 'closed');
      });
      await Promise.race([Promise.all(closed), delay(CLOSED_WITHIN_MS)]);
      return ended(sockets, answers, closed);
    },
  };
}

const idleSessions: Attack = {
  name: `${CONNECTIONS} HTTP/2 sessions without a request at the Connect server`,
  expects: `closed within ${CLOSED_WITHIN_MS / 1000} s`,
  async run(target) {
    const address = newAddress();
    const sockets = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => openSocket(target.file.connectUrl, address)),
    );
    const answers = new Answers();
    const closed = sockets.map(async (socket) => {
      const session = connect(target.file.connectUrl, { createConnection: () => socket });
      session.on('error', () => undefined);
      if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
      answers.add('closed');
    });
    await Promise.race([Promise.all(closed), delay(CLOSED_WITHIN_MS)]);
    return ended(sockets, answers, closed);
  },
};

/** Counts the connections that the server left open, then closes them from this side. */
async function ended(sockets: readonly Socket[], answers: Answers, closed: readonly Promise<void>[]) {
  const open = sockets.filter((socket) => !socket.closed);
  const met = new Answers(answers);
  for (const socket of open) {
    met.add('open');
    socket.destroy();
  }
  await Promise.all(closed);
  const faults = open.length > 0 ? [`${open.length} connections were still open`] : [];
  return { answers: met, faults };
}

const gateway = ({ file }: Target) => file.baseUrl;
const connectServer = ({ file }: Target) => file.connectUrl;

export const SLOW_SERVERS: readonly Attack[] = [
  stalled('that say nothing, at the gateway', gateway, saysNothing),
  stalled('that stop in their head, at the gateway', gateway, stopsIn('GET /healthz HTTP/1.1\r\nHost: a\r\nX-A: ')),
  stalled('with a body of 2 bytes a second, at the relay', gateway, dripsAfter(RELAY)),
  stalled('that say nothing, at the Connect server', connectServer, saysNothing),
  stalled(
    'that stop in their head, at the Connect server',
    connectServer,
    stopsIn('POST /x HTTP/1.1\r\nHost: a\r\nX-A: '),
  ),
  stalled('with a body of 2 bytes a second, at the Connect server', connectServer, dripsAfter(RPC)),
  idleSessions,
];
