/** Which port each process listens on. */
import { freePort, listenFault } from './port.ts';
import type { QuickstartSettings } from './settings.ts';

const INNER = ['DATABASE_PORT', 'SANDBOX_PORT', 'CHECKOUT_PORT', 'MERCHANT_PORT'] as const;
const OUTER = ['PORT', 'CORE_PORT', 'CONNECT_PORT'] as const;

/** TCP ports on 127.0.0.1, by setting. */
export type Ports = Readonly<Record<(typeof INNER)[number] | (typeof OUTER)[number], number>>;

/** Takes the ports that are set and finds free ones for the rest. Throws when two are the same, or one is taken. */
export async function choosePorts(settings: QuickstartSettings): Promise<Ports> {
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
    while (ports[name] === undefined) {
      const port = await freePort();
      if (!Object.values(ports).includes(port)) ports[name] = port;
    }
  }
  return ports as Ports;
}

/** Free outer ports, as settings: for a service beside one that has the usual ports. */
export async function freeOuterPorts(): Promise<Record<(typeof OUTER)[number], string>> {
  const found = new Set<number>();
  while (found.size < OUTER.length) found.add(await freePort());
  const [PORT = '', CORE_PORT = '', CONNECT_PORT = ''] = [...found].map(String);
  return { PORT, CORE_PORT, CONNECT_PORT };
}
