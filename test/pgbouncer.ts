/** Debian's pgbouncer in front of the PostgreSQL of the run, as it is configured when nobody says otherwise. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { freePort } from '../services/quickstart/ports.ts';

/** Starts one for a database. Returns the address behind which it is. */
export async function startPgbouncer(databaseUrl: string, mode: 'session' | 'transaction') {
  const to = new URL(databaseUrl);
  const directory = await mkdtemp(`${tmpdir()}/holdfast-pgbouncer-`);
  await chmod(directory, 0o711);
  const port = await freePort();
  const login = `user=${to.username} password=${decodeURIComponent(to.password)}`;
  await writeFile(
    `${directory}/pgbouncer.ini`,
    `[databases]
* = host=${to.hostname} port=${to.port} ${login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
`,
  );
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn('pgbouncer', [...user, `${directory}/pgbouncer.ini`], { stdio: ['ignore', 'ignore', 'pipe'] });
  const gone = once(child, 'exit');
  for await (const line of createInterface(child.stderr)) if (line.includes('process up')) break;
  child.stderr.resume();
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    async close() {
      child.kill('SIGTERM');
      await gone;
      await rm(directory, { recursive: true });
    },
  };
}
