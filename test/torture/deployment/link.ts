/** A TCP proxy whose connections can be cut and stalled. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export type Link = Awaited<ReturnType<typeof openLink>>;
type Pair = readonly [Socket, Socket];

/** Listens on a port of this machine and forwards to another one, which can be changed. */
export async function openLink(port: number, targetPort: number) {
  const pairs = new Set<Pair>();
  let state: 'open' | 'cut' | 'stalled' = 'open';
  let target = targetPort;
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    const pair: Pair = [near, far];
    pairs.add(pair);
    pass(near, far);
    pass(far, near);
    for (const socket of pair) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.once('close', () => reset(pair));
    }
    if (state === 'cut') reset(pair);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  function pass(from: Socket, to: Socket): void {
    from.on('data', (chunk) => {
      if (!to.write(chunk)) from.pause();
    });
    from.on('end', () => to.end());
    to.on('drain', () => {
      if (state !== 'stalled') from.resume();
    });
    if (state === 'stalled') from.pause();
  }
  function reset(pair: Pair): void {
    pairs.delete(pair);
    for (const socket of pair) socket.resetAndDestroy();
  }
  function resetAll(): number {
    const count = pairs.size;
    for (const pair of [...pairs]) reset(pair);
    return count;
  }
  return {
    port,
    /** Resets all connections and forwards new ones to another port. */
    turn(nextPort: number): void {
      target = nextPort;
      state = 'open';
      resetAll();
    },
    /** Resets all connections, and each new one until `mend`. Returns how many there were. */
    cut(): number {
      state = 'cut';
      return resetAll();
    },
    /** Forwards nothing, in either direction, with all connections open, until `mend`. Returns how many there are. */
    stall(): number {
      state = 'stalled';
      for (const socket of [...pairs].flat()) socket.pause();
      return pairs.size;
    },
    /** Forwards everything again, including what was sent meanwhile; `lost` resets the connections instead. */
    mend(lost = false): void {
      state = 'open';
      if (lost) resetAll();
      for (const socket of [...pairs].flat()) socket.resume();
    },
    async close(): Promise<void> {
      server.close();
      resetAll();
      await once(server, 'close');
    },
  };
}
