import { statfsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';

// Compiled code is kept for the next process, as the launcher keeps it: each run starts a hundred of them.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url));
enableCompileCache();

/** Those named on the command line instead, since mocha would add them to a fixed list. */
const named = process.argv.slice(2).some((argument) => argument.startsWith('test/'));
/** Those that wait longest are first, and those that are soon done last. */
const spec = [
  'test/{client,docs,platform}/**/*.test.ts',
  'test/services/**/*.test.ts',
  'test/!(client|docs|platform|services)/**/*.test.ts',
];
/** Deployments that are killed, restarted, scaled out and held up, and pages in a browser: `npm run test:long`. */
const long = ['test/operate/**', 'test/torture/**', 'test/**/*.browser.test.ts'];

/** Where there is room in memory: each file of tests copies a database, and all of them together take 0.5 GiB. */
function roomForDatabases() {
  const memory = '/dev/shm';
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > 4 * 2 ** 30 ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}
// Deployments under load, which run long, need more.
if (!process.argv.some((argument) => /operate|torture/.test(argument))) process.env.TMPDIR ??= roomForDatabases();

export default {
  require: ['test/setup.ts', 'test/leaves-nothing.ts', 'test/cpu-by-file.ts'],
  // Ends a test that waits for what never comes. No other takes as long, also where the machine is ten times slower.
  timeout: 600_000,
  // Tests wait twice as long as they work.
  jobs: 2 * availableParallelism() + 1,
  // What merchants run the client with has tests of its own.
  ignore: ['test/client/runtimes/node_modules/**', ...(named ? [] : long)],
  ...(named ? {} : { spec }),
};
