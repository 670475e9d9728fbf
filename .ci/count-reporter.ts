/**
 * Mocha's own report, and its counts as `passed failed skipped` in a file (--reporter-option counts=FILE) for .ci/run,
 * which ends the tests by SIGTERM when its time is over: then those that run are named. A parallel worker reports a
 * file only at its end, so it writes which test it runs into the folder TEST_RUNNING (test/leaves-nothing.ts).
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import Mocha from 'mocha';

const { EVENT_RUN_END, EVENT_TEST_BEGIN, EVENT_HOOK_BEGIN } = Mocha.Runner.constants;

export default class CountReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const { counts } = options.reporterOptions as { counts: string };
    const keep = () => {
      const { passes, failures, pending } = this.stats;
      writeFileSync(counts, `${passes} ${failures} ${pending}\n`);
    };
    let running = 'no test yet';
    for (const begin of [EVENT_TEST_BEGIN, EVENT_HOOK_BEGIN]) {
      runner.on(begin, (each: Mocha.Runnable) => {
        running = each.fullTitle();
      });
    }
    runner.once(EVENT_RUN_END, keep);
    process.once('SIGTERM', () => {
      keep();
      const { TEST_RUNNING: folder } = process.env;
      for (const each of (folder && runningIn(folder)) || [running])
        process.stderr.write(`out of time during: ${each}\n`);
      process.exit(1);
    });
  }
}

/** Reads what the parallel workers run; undefined when there are none. */
function runningIn(folder: string): string[] | undefined {
  const found = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, 'utf8').trim());
  return found.length > 0 ? found : undefined;
}
