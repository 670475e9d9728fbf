/** TCP ports on this machine: chooses that of each process. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { z } from 'zod';
import { readPrivateJson, writePrivateFile } from './data-dir.ts';
import type { QuickstartSettings } from './settings.ts';

/** The ports that only processes of the service itself use, unless they are set. */
export const INNER = [
  'DATABASE_PORT',
  'CORE_METRICS_PORT',
  'WORKER_METRICS_PORT',
  'SANDBOX_PORT',
  'CHECKOUT_PORT',
  'MERCHANT_PORT',
  'STRIPE_PORT',
  'STRIPE_WEBHOOK_PORT',
  'STRIPE_DATABASE_PORT',
] as const;
const OUTER = ['PORT', 'CORE_PORT', 'CONNECT_PORT'] as const;

/** TCP ports on 127.0.0.1, by setting. */
export type Ports = Readonly<Record<(typeof INNER)[number] | (typeof OUTER)[number], number>>;

const handedOut = z.partialRecord(z.enum(INNER), z.number().int().min(1).max(65_535));

/**
 * Chooses the ports of a DATA_DIR. Inner ports stay the same from one start to the next as long as they are free:
 * addresses of checkout pages and of the demo merchant were handed out with them. Errors as choosePorts().
 */
export async function keepPorts(settings: QuickstartSettings, dataDir: string): Promise<Ports> {
  const file = `${dataDir}/ports.json`;
  const ports = await choosePorts(settings, handedOut.catch({}).parse((await readPrivateJson(file)) ?? {}));
  await writePrivateFile(file, `${JSON.stringify(Object.fromEntries(INNER.map((name) => [name, ports[name]])))}\n`);
  return ports;
}

/**
 * Takes the ports that are set, then the preferred ones that are free, and finds free ones for the rest. Throws when
 * two settings are the same, or a port that is set is taken.
 */
export async function choosePorts(
  settings: QuickstartSettings,
  preferred: Readonly<Partial<Record<(typeof INNER)[number], number>>> = {},
): Promise<Ports> {
  const names = [...OUTER, ...INNER];
  const ports: Partial<Record<keyof Ports, number>> = {};
  for (const name of names) {
    const wanted = settings[name];
    if (wanted === undefined) continue;
    const twin = names.find((other) => ports[other] === wanted);
    if (twin !== undefined) throw new Error(`${name} and ${twin} are both ${wanted}; give each its own`);
    const fault = await listenFault(wanted);
    if (fault === 'EADDRINUSE') throw new Error(`${name}: port ${wanted} is already taken; set ${name} to a free one`);
    if (fault !== undefined) throw new Error(`${name}: cannot listen on port ${wanted} (${fault})`);
    ports[name] = wanted;
  }
  for (const name of INNER) {
    if (ports[name] !== undefined) continue;
    let port = preferred[name] ?? (await freePort());
    while (Object.values(ports).includes(port) || (await listenFault(port))) port = await freePort();
    ports[name] = port;
  }
  return ports as Ports;
}

/** Free outer ports, as settings, for a second service on the same machine. */
export async function freeOuterPorts(): Promise<Record<(typeof OUTER)[number], string>> {
  const port = async () => String(await freePort());
  return { PORT: await port(), CORE_PORT: await port(), CONNECT_PORT: await port() };
}

/**
 * Finds a free port between 20 000 and 30 000: below the range of outgoing connections, so that the system does not
 * give it away while its process restarts. Never returns the same port twice, because the caller may not listen on the
 * first one yet. Nor does another process whose PORT_SHARE, such as 3/16, names another share of these ports.
 */
export async function freePort(): Promise<number> {
  const [share, shares] = (process.env.PORT_SHARE ?? '0/1').split('/').map(Number) as [number, number];
  const count = Math.floor((30_000 - 20_000) / shares);
  for (;;) {
    const port = 20_000 + share * count + randomInt(count);
    if (given.has(port) || (await listenFault(port)) !== undefined) continue;
    given.add(port);
    return port;
  }
}

const given = new Set<number>();

/** Node's error code when a port cannot be listened on, such as EADDRINUSE or EACCES; undefined when it can. */
async function listenFault(port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    server.close();
  }
}
