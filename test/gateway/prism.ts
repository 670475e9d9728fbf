/**
 * Puts Prism's validating proxy between tests and the gateway when `TEST_PRISM` names its program (docs/testing.md),
 * and collects what Prism reports about the answers. Requests are not validated: many tests send invalid ones on
 * purpose.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { createDocument } from '../../gateway/openapi/document.ts';
import { freePort } from '../../services/quickstart/ports.ts';

/** A Prism proxy in front of a gateway. */
export interface Prism {
  readonly origin: string;
  close(): Promise<void>;
}

/** Starts Prism in front of a gateway; undefined unless the run asks for it. */
export async function openPrism(upstream: string): Promise<Prism | undefined> {
  const { TEST_PRISM: program, TEST_PRISM_REPORT: report = 'prism-report.txt' } = process.env;
  if (program === undefined) return undefined;
  const directory = await mkdtemp(`${tmpdir()}/holdfast-prism-`);
  await writeFile(`${directory}/openapi.json`, JSON.stringify(createDocument()));
  const port = String(await freePort());
  const flags = ['--host', '127.0.0.1', '--port', port, '--validate-request=false'];
  const prism = spawn(process.execPath, [program, 'proxy', `${directory}/openapi.json`, upstream, ...flags]);
  const listening = new Promise<void>((resolve, reject) => {
    prism.once('exit', (code) => reject(new Error(`Prism ended with ${code}`)));
    createInterface(prism.stdout).on('line', (line) => {
      if (line.includes('Prism is listening')) resolve();
      appendFileSync(report, `${line}\n`);
    });
  });
  prism.stderr.resume();
  process.once('exit', () => prism.kill('SIGKILL'));
  await listening;
  return {
    origin: `http://127.0.0.1:${port}`,
    async close() {
      const exited = once(prism, 'exit');
      prism.kill('SIGKILL');
      await exited;
      await rm(directory, { recursive: true });
    },
  };
}
