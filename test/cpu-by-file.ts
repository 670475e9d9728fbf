/**
 * Writes what each file of tests costs in CPU: a busy machine changes that less than how long it takes. `TEST_CPU=FILE
 * npm test` appends a line for each: seconds of its worker, of the worker's processes that have ended, and its name.
 * PostgreSQL and the service that all files share are not in it.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** Linux only: the kernel's clock ticks, which are 10 ms everywhere. */
const TICKS_PER_SECOND = 100;

/** The main process of a parallel run has no file of its own. */
const isWorker = process.argv[1]?.endsWith('/mocha/lib/nodejs/worker.cjs');
const report = isWorker ? process.env.TEST_CPU : undefined;

/** At the end of the file before: what imports the next one counts as its own. */
let spent = { own: 0, children: 0 };

export const mochaHooks =
  report === undefined
    ? {}
    : {
        afterAll(this: Mocha.Context) {
          const root = this.test?.parent;
          const file = root?.suites[0]?.file ?? root?.tests[0]?.file ?? 'a file without tests';
          const now = cpuSeconds();
          const costs = [now.own - spent.own, now.children - spent.children].map((each) => each.toFixed(2));
          appendFileSync(report, `${costs.join('\t')}\t${relative('.', file)}\n`);
          spent = now;
        },
      };

/** Fields 14 to 17 of proc_pid_stat(5); the second one, a name, may contain spaces. */
function cpuSeconds() {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15).map(Number);
  return { own: (user + system) / TICKS_PER_SECOND, children: (childrenUser + childrenSystem) / TICKS_PER_SECOND };
}
