/** A merchant's backend that answers at once, in a process of its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

/** Starts one. */
export async function openReceiver() {
  const child = fork(fileURLToPath(import.meta.url), [], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [port] = (await once(child, 'message')) as [number];
  return {
    url: `http://127.0.0.1:${port}`,
    async close(): Promise<void> {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end('{}'));
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  process.on('disconnect', () => process.exit(0));
}
