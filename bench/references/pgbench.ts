/** pgbench with our transactions, where it is installed; the same through raw pg, where it is not. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { House } from '../house.ts';
import { type LoadResult, runLoad } from '../load.ts';
import { SCRIPTS, type ScriptName, TABLES } from './scripts.ts';

const execute = promisify(execFile);

/** How references are run on this machine, for the table. */
export async function referenceName(): Promise<string> {
  return (await hasPgbench()) ? 'pgbench' : 'raw pg';
}

/** Runs a script, row at a time, for some seconds. */
export async function runReference(
  house: House,
  script: ScriptName,
  clients: number,
  seconds: number,
): Promise<LoadResult> {
  await house.query(TABLES);
  if (!(await hasPgbench())) {
    const options = { databaseUrl: house.databaseUrl, script, connections: String(clients) };
    return runLoad({ load: 'pg', inFlight: clients, seconds, options });
  }
  const file = `${house.dataDir}/${script}.sql`;
  await writeFile(file, pgbenchScript(script));
  const url = new URL(house.databaseUrl);
  const password = decodeURIComponent(url.password);
  const run = Math.floor(Date.now() / 100) % 2 ** 31;
  const args = ['-n', '-M', 'prepared', '-c', `${clients}`, '-j', '2', '-T', `${seconds}`, '-f', file];
  const variables = ['-D', 'n=0', '-D', `run=${run}`];
  const where = ['-h', url.hostname, '-p', url.port, '-U', decodeURIComponent(url.username), url.pathname.slice(1)];
  const { stdout } = await execute('pgbench', [...args, ...variables, ...where], {
    env: { ...process.env, PGPASSWORD: password },
  });
  const perSecond = Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
  const averageMs = Number(/latency average = ([\d.]+)/.exec(stdout)?.[1]);
  if (!(perSecond > 0)) throw new Error(`pgbench said nothing: ${stdout.slice(0, 300)}`);
  return { acts: perSecond * seconds, perSecond, p50Ms: averageMs, p99Ms: Number.NaN, failures: 0 };
}

async function hasPgbench(): Promise<boolean> {
  try {
    await execute('pgbench', ['--version']);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Identifiers of one run begin alike and then count up, so that they land in the indexes in order, as UUIDv7 do. */
function pgbenchScript(script: ScriptName): string {
  const lines = ['\\set n :n + 1'];
  for (const transaction of SCRIPTS[script]) {
    if (transaction.length > 1) lines.push('begin;');
    for (const statement of transaction) {
      const line = statement.replace(/\s+/g, ' ');
      lines.push(`${line.replace(/:(id|operation|delivery|capture)\b/g, (_, name) => identifier(name))};`);
    }
    if (transaction.length > 1) lines.push('commit;');
  }
  return `${lines.join('\n')}\n`;
}

function identifier(name: string): string {
  const kind = ['id', 'operation', 'delivery', 'capture'].indexOf(name);
  const count = `lpad(to_hex(:n::bigint * 4 + ${kind}), 12, '0')`;
  const [run, client] = [`lpad(to_hex(:run::bigint), 8, '0')`, `lpad(to_hex(:client_id::bigint), 3, '0')`];
  return `(${run} || '-0000-7000-8' || ${client} || '-' || ${count})`;
}
