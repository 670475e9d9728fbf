/** Connections that stall: the server must close each in time. */
import { connect } from 'node:http2';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Answers, type Attack, newAddress, openSocket, type Target } from './attack.ts';

/** A server waits at most 10 s for a request; a busy machine may take longer to notice. */
const CLOSED_WITHIN_MS = 15_000;
const CONNECTIONS = 200;
const DRIP_MS = 500;

/** The connection's behaviour once it is open. Returns how to stop, which says what was answered. */
type Stall = (socket: Socket, url: string) => () => string;

/** Sends bytes, and then further ones if any. */
const sends =
  (head: string, drip?: string): Stall =>
  (socket) => {
    let first = '';
    socket.on('data', (chunk: Buffer) => {
      first ||= chunk.toString('latin1', 0, 12);
    });
    if (head !== '') socket.write(head);
    const dripping = drip === undefined ? undefined : setInterval(() => socket.write(drip), DRIP_MS);
    return () => {
      clearInterval(dripping);
      return /^HTTP\/1\.1 (\d{3})$/.exec(first)?.[1] ?? 'closed';
    };
  };

const opensSession: Stall = (socket, url) => {
  connect(url, { createConnection: () => socket }).on('error', () => undefined);
  return () => 'closed';
};

const HEAD = 'HTTP/1.1\r\nHost: a\r\nX-A: ';
const POST = 'Host: a\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n';
const RELAY = `POST /webhook/processor/payment/captured HTTP/1.1\r\n${POST}{`;
const RPC = `POST /holdfast.v1.OperationService/GetOperation HTTP/1.1\r\n${POST}{`;

function stalled(name: string, urlOf: (target: Target) => string, stall: Stall): Attack {
  return {
    name: `${CONNECTIONS} ${name}`,
    expects: `closed within ${CLOSED_WITHIN_MS / 1000} s`,
    async run(target) {
      const url = urlOf(target);
      const address = newAddress();
      const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => openSocket(url, address)));
      const answers = new Answers();
      const closed = sockets.map(async (socket) => {
        const stop = stall(socket, url);
        if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
        answers.add(stop());
      });
      await Promise.race([Promise.all(closed), delay(CLOSED_WITHIN_MS)]);
      return ended(sockets, answers, closed);
    },
  };
}

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
  stalled('connections that say nothing, at the gateway', gateway, sends('')),
  stalled('connections that stop in their head, at the gateway', gateway, sends(`GET /healthz ${HEAD}`)),
  stalled('connections with a body of 2 bytes a second, at the relay', gateway, sends(RELAY, '1')),
  stalled('connections that say nothing, at the Connect server', connectServer, sends('')),
  stalled('connections that stop in their head, at the Connect server', connectServer, sends(`POST /x ${HEAD}`)),
  stalled('connections with a body of 2 bytes a second, at the Connect server', connectServer, sends(RPC, '1')),
  stalled('HTTP/2 sessions without a request at the Connect server', connectServer, opensSession),
];
