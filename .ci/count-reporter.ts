/**
 * Mocha's own report, and its counts as `passed failed skipped` in a file (--reporter-option counts=FILE) for .ci/run,
 * which ends the tests by SIGTERM when its time is over: then the one that runs is named.
 */
import { writeFileSync } from 'node:fs';
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
      process.stderr.write(`out of time during: ${running}\n`);
      process.exit(1);
    });
  }
}
