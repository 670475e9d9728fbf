/**
 * A name server on loopback (RFC 1035): answers A queries from a table, and never answers for names under
 * `silent.test`.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export async function openNameServer(addresses: Readonly<Record<string, string>>) {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, { port, address }) => {
    const { name, end } = questionOf(query);
    asked.push(name);
    if (!name.endsWith('silent.test')) socket.send(answerTo(query, end, addresses[name]), port, address);
  });
  await once(socket.bind(0, '127.0.0.1'), 'listening');
  const servers = [`127.0.0.1:${socket.address().port}`];
  return { servers, asked, close: () => new Promise<void>((resolve) => socket.close(() => resolve())) };
}

/** The name in the question, and where the question ends. */
function questionOf(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5 };
}

/** One A record, or NXDOMAIN. */
function answerTo(query: Buffer, end: number, address: string | undefined): Buffer {
  const isA = query.readUInt16BE(end - 4) === 1;
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(address === undefined ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(address !== undefined && isA ? 1 : 0, 6);
  header.fill(0, 8);
  const question = query.subarray(12, end);
  if (address === undefined || !isA) return Buffer.concat([header, question]);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]);
  return Buffer.concat([header, question, record]);
}
