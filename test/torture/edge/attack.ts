/** What an attack is, and how it reaches the doors: raw bytes, from an address of its own. */
import { connect, type Socket } from 'node:net';
import type { QuickstartFile } from '../../../services/quickstart/quickstart.ts';

/** A merchant that the attack uses or claims to be. */
export interface Merchant {
  readonly merchantId: string;
  readonly apiKey: string;
  readonly signingSecret: string;
}

/** What is attacked. */
export interface Target {
  readonly file: QuickstartFile;
  /** The healthy merchant, whom attackers may name. */
  readonly healthy: Merchant;
  /** For how long floods last, milliseconds. */
  readonly floodMs: number;
  createMerchant(webhookUrl?: string): Promise<Merchant>;
}

/** What an attack met. */
export interface Met {
  /** How often each status, or `closed` for a connection that ended without one. */
  readonly answers: ReadonlyMap<string, number>;
  /** One line for each thing that should not be so. */
  readonly faults: readonly string[];
}

export interface Attack {
  readonly name: string;
  /** What it must meet, in words. */
  readonly expects: string;
  run(target: Target): Promise<Met>;
}

/** Counts answers by status. */
export class Answers extends Map<string, number> {
  add(answer: string | number): void {
    this.set(String(answer), (this.get(String(answer)) ?? 0) + 1);
  }

  /** One line for each answer that is none of those expected. */
  notAmong(expected: readonly (string | number)[]): string[] {
    const unexpected = [...this].filter(([answer]) => !expected.map(String).includes(answer));
    return unexpected.map(([answer, count]) => `${count} × ${answer}`);
  }
}

/** Addresses of this machine, one for each attacker: limits by address must not mix them with the healthy merchant. */
let lastAddress = 1;
export function newAddress(): string {
  lastAddress += 1;
  return `127.1.${lastAddress >> 8}.${lastAddress & 255}`;
}

/** Opens a connection to a URL's host and port, from an address. Its errors are ignored: its end says enough. */
export async function openSocket(url: string, localAddress: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.once('connect', resolve).once('close', () => resolve()));
  return socket;
}

/** Sends bytes and answers the statuses that came back until the connection ended, or nothing came for a while. */
export async function exchange(
  url: string,
  bytes: string,
  quietMs = 1_000,
): Promise<{ statuses: number[]; closed: boolean }> {
  const socket = await openSocket(url, newAddress());
  let text = '';
  let closed = false;
  const ended = new Promise<void>((resolve) => {
    socket.setTimeout(quietMs, resolve);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    socket.once('close', () => {
      closed = true;
      resolve();
    });
  });
  socket.write(bytes, 'latin1');
  await ended;
  socket.destroy();
  return { statuses: [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map((match) => Number(match[1])), closed };
}
