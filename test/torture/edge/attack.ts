/** Attacks, and how they reach the servers: raw bytes, from addresses of their own. */
import { connect, type Socket } from 'node:net';
import type { QuickstartFile } from '../../../services/quickstart/quickstart.ts';

/** A merchant that the attack uses or impersonates. */
export type Merchant = QuickstartFile['singleCapture'];

/** The target. */
export interface Target {
  readonly file: QuickstartFile;
  /** The healthy merchant, which attackers may name. */
  readonly healthy: Merchant;
  /** How long floods last, in milliseconds. */
  readonly floodMs: number;
  /** Core's database, where what takes too long to do by calls is stored. */
  readonly databaseUrl: string;
  /** The secret that signs the events of the processor whose adapter runs beside. */
  readonly stripeSecret: string;
  createMerchant(webhookUrl?: string): Promise<Merchant>;
}

/** The result of an attack. */
export interface Met {
  /** The number of each status, or of `closed` for a connection that ended without one. */
  readonly answers: ReadonlyMap<string, number>;
  /** One line for each unexpected result. */
  readonly faults: readonly string[];
}

export interface Attack {
  readonly name: string;
  /** The expected result, in words. */
  readonly expects: string;
  /** How much longer the 99th percentile of the healthy merchant's reads may be, when that is promised. */
  readonly p99LongerMs?: number;
  /** A smaller attack of the same kind, which every change plays. */
  readonly short?: true;
  run(target: Target): Promise<Met>;
}

/** Counts answers by status. */
export class Answers extends Map<string, number> {
  add(answer: string | number): void {
    this.set(String(answer), (this.get(String(answer)) ?? 0) + 1);
  }

  /** Returns one line for each unexpected answer. */
  notAmong(expected: readonly (string | number)[]): string[] {
    const unexpected = [...this].filter(([answer]) => !expected.map(String).includes(answer));
    return unexpected.map(([answer, count]) => `${count} × ${answer}`);
  }
}

/** Loopback addresses, one for each attacker, so that limits by address do not affect the healthy merchant. */
let lastAddress = 1;
export function newAddress(): string {
  lastAddress += 1;
  return `127.1.${lastAddress >> 8}.${lastAddress & 255}`;
}

/** Opens a connection to a URL's host and port, from an address. Errors are ignored: the close event suffices. */
export async function openSocket(url: string, localAddress: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.once('connect', resolve).once('close', () => resolve()));
  return socket;
}

/** Sends bytes and returns the statuses received until the connection ended, or was silent for a while. */
export async function exchange(url: string, bytes: string): Promise<{ statuses: number[]; closed: boolean }> {
  const socket = await openSocket(url, newAddress());
  let text = '';
  let closed = false;
  const ended = new Promise<void>((resolve) => {
    socket.setTimeout(QUIET_MS, resolve);
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

const QUIET_MS = 1_000;
